/**
 * Whether a single-valued header comes twice. Node keeps the first of them; a proxy in front may have
 * checked the last, and passed on what it would have refused.
 */
export function hasDoubledHeader(rawHeaders: readonly string[]): boolean {
  let seen = 0;
  // `rawHeaders` alternates names and values.
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const bit = bitOf(rawHeaders[at] as string);
    if ((seen & bit) !== 0) return true;
    seen |= bit;
  }
  return false;
}

/** The length is compared first: this is on the hot path, and most names end there. */
function bitOf(name: string): number {
  switch (name.length) {
    case 4:
      return name.toLowerCase() === 'host' ? 1 : 0;
    case 12:
      return name.toLowerCase() === 'content-type' ? 2 : 0;
    case 13:
      return name.toLowerCase() === 'authorization' ? 4 : 0;
    default:
      return 0;
  }
}
