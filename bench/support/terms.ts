import { createSeededRandom } from '../../test/support/seeded-random.ts';

const SHORTEST = 2;
// Few people type more before they find the instrument.
const LONGEST = 12;
// Spellings with the same result, which a response cache treats as different requests.
const WRITINGS = [
  (term: string) => term,
  (term: string) => term.toLowerCase(),
  (term: string) => term.toUpperCase(),
  (term: string) => `${term} `,
];

/** Search terms as people type them, letter by letter. The terms are shuffled, so that similar ones rarely follow each other. */
export function createTerms(instruments: readonly { symbol: string; name: string }[]) {
  const terms = new Set<string>();
  for (const { symbol, name } of instruments) {
    for (const text of [symbol, name]) {
      const longest = Math.min(LONGEST, text.length);
      for (let end = SHORTEST; end <= longest; end += 1) terms.add(text.slice(0, end).trim());
    }
  }
  // The same order each time.
  const random = createSeededRandom(1);
  const shuffled = [...terms]
    .map((term) => ({ term, at: random.next() }))
    .sort((one, other) => one.at - other.at)
    .map(({ term }) => term);
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
