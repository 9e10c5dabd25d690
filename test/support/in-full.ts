/** The size of a test: full with `npm test -- --all`, smaller in every other run. */
export function inFull<T>(full: T, small: T): T {
  return process.env.FULL ? full : small;
}
