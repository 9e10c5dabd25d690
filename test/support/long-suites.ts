/**
 * Suites that take minutes: pages and guides in a browser beside those that the other suites load, and rehearsals that repeat with
 * random faults or for long what other suites show once. `npm test` leaves them out, CI and `npm run test:all` run them.
 */
export const LONG_SUITES: readonly string[] = [
  'client/test/examples/**',
  'client/test/guides/{apollo,empty-folder,pages,relay,trusted-documents,urql}.test.ts',
  'client/test/live/random-faults.test.ts',
  'client/test/orders/faults.test.ts',
  'test/bench/{hostile,replicas}.test.ts',
  'test/deploy/{compose,night,one-machine}.test.ts',
  'test/end-to-end/chaos/**',
  'test/end-to-end/limits/{send-buffers,soak}.test.ts',
  'test/end-to-end/sandbox/{demo-on-*,graphiql-page}.test.ts',
  'test/end-to-end/scale/**',
  'test/end-to-end/transports/two-paths.test.ts',
  'test/plugins/execution/differential*.test.ts',
  'test/packaging/dockerfile.test.ts',
  'test/store/sqlite/order-file-damage.test.ts',
];
