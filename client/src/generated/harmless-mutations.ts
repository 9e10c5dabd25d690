// Written by `npm run docs` from the code of the server.

/** The mutations of which the schema says that repeating them does no harm. */
export const HARMLESS_MUTATIONS: readonly string[] = [
  'markNotificationsRead',
  'registerDevice',
  'setValue',
];
