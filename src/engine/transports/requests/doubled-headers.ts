/**
 * Whether a single-valued header comes twice. Node keeps the first of them, or joins them; a proxy in front may have
 * checked the last, and passed on what it would have refused. `more`: further ones, in lower case.
 */
export function hasDoubledHeader(rawHeaders: readonly string[], more: readonly string[]): boolean {
  let seen = 0;
  // `rawHeaders` alternates names and values.
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const bit = bitOf(rawHeaders[at] as string);
    if ((seen & bit) !== 0) return true;
    seen |= bit;
  }
  return more.length > 0 && more.some((name) => countOf(name, rawHeaders) > 1);
}

function countOf(name: string, rawHeaders: readonly string[]): number {
  return rawHeaders.filter((each, at) => at % 2 === 0 && each.toLowerCase() === name).length;
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
