/** A `Date` header this many seconds ahead of this machine's clock, for a gateway whose clock differs. */
export function dateAhead(seconds: number) {
  return { date: new Date(Date.now() + 1_000 * seconds).toUTCString() };
}
