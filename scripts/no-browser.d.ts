/**
 * Replaces in tsconfig.server.json the types of packages that would add a browser's globals. Their use is checked against
 * their own types by tsconfig.json.
 */
export {};
