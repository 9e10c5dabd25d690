const SHORTEST = 2;

/** What people type into a search box, letter by letter; none comes twice before all have come. */
export function createTerms(instruments: readonly { symbol: string; name: string }[]) {
  const terms = new Set<string>();
  for (const { symbol, name } of instruments) {
    for (const text of [symbol, name]) {
      for (let end = SHORTEST; end <= text.length; end += 1) terms.add(text.slice(0, end).trim());
    }
  }
  const shuffled = [...terms];
  // The same order each time, and neighbours far apart.
  let state = 1;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
  for (let at = shuffled.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [shuffled[at], shuffled[other]] = [shuffled[other] as string, shuffled[at] as string];
  }
  let used = 0;
  return {
    next(): string {
      used += 1;
      return shuffled[used % shuffled.length] as string;
    },
  };
}
