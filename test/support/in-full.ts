/** The size of a test: full with `npm test -- --all`, smaller in every other run. */
export function inFull<T>(full: T, small: T): T {
  return process.env.FULL ? full : small;
}

/** Whether this run includes tests that take minutes: in CI, with `npm test -- --long` and with `-- --all`. */
export const isLong = ['CI', 'LONG', 'FULL'].some((name) => process.env[name]);
