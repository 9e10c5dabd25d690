/** The size of a rehearsal: `npm test -- --all` runs it as large as the claim is, every other run smaller. */
export function inFull<T>(full: T, small: T): T {
  return process.env.FULL ? full : small;
}
