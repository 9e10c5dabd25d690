export const fetch = globalThis.fetch.bind(globalThis);
