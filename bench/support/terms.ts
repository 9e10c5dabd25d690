const SHORTEST = 2;
// Few people type more before they see what they look for.
const LONGEST = 12;
// The same search to the reader, another request to a response cache.
const WRITINGS = [
  (term: string) => term,
  (term: string) => term.toLowerCase(),
  (term: string) => term.toUpperCase(),
  (term: string) => `${term} `,
];

/** Search terms as people type them, letter by letter, each term long after its like. */
export function createTerms(instruments: readonly { symbol: string; name: string }[]) {
  const terms = new Set<string>();
  for (const { symbol, name } of instruments) {
    for (const text of [symbol, name]) {
      const longest = Math.min(LONGEST, text.length);
      for (let end = SHORTEST; end <= longest; end += 1) terms.add(text.slice(0, end).trim());
    }
  }
  const shuffled = [...terms];
  const random = createRandom();
  for (let at = shuffled.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [shuffled[at], shuffled[other]] = [shuffled[other] as string, shuffled[at] as string];
  }
  let used = 0;
  return {
    next(): string {
      const term = shuffled[used % shuffled.length] as string;
      const write = WRITINGS[Math.floor(used / shuffled.length) % WRITINGS.length];
      used += 1;
      return write?.(term) ?? term;
    },
  };
}

/** The same order each time. */
function createRandom(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}
