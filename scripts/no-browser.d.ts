/**
 * Stands in tsconfig.server.json for packages whose own types would bring a browser's globals along. How they are used
 * is checked against their own types by tsconfig.json.
 */
export {};
