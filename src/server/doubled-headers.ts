/**
 * Whether a header comes twice that has one meaning. Node keeps the first of them; a proxy in front
 * may have looked at the last, and let pass what it would have refused.
 */
export function hasDoubledHeader(rawHeaders: readonly string[]): boolean {
  let seen = 0;
  // Names and values in turn.
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const bit = bitOf(rawHeaders[at] as string);
    if ((seen & bit) !== 0) return true;
    seen |= bit;
  }
  return false;
}

/** By length first: every request passes here, and most names need no second look. */
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
