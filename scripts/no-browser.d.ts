/**
 * Replaces in tsconfig.server.json the types of packages that would add a browser's globals. The use of these packages is
 * checked by tsconfig.json, with the packages' own types.
 */
export {};
