/** What builds whole apps or visits pages for minutes: `npm test` leaves it out, CI and `npm run test:all` run it. */
export const LONG_SUITES: readonly string[] = [
  'client/test/examples/**',
  'client/test/guides/{apollo,pages,relay,trusted-documents,urql}.test.ts',
  'test/end-to-end/sandbox/demo-on-*.test.ts',
];
