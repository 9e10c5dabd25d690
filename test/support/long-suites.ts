/** Suites that take minutes: `npm test` leaves them out, CI and `npm run test:all` run them. */
export const LONG_SUITES: readonly string[] = [
  'client/test/examples/**',
  'client/test/guides/{apollo,pages,relay,trusted-documents,urql}.test.ts',
  'test/end-to-end/sandbox/demo-on-*.test.ts',
];
