import { createSeededRandom } from '../../test/support/seeded-random.ts';

const SHORTEST = 2;
// Few people type more before they find the instrument.
const LONGEST = 12;
// Spellings with the same result, which are different requests.
const SPELLINGS = [
  (term: string) => term,
  (term: string) => term.toLowerCase(),
  (term: string) => term.toUpperCase(),
  (term: string) => `${term} `,
];

/** Search terms as people type them, letter by letter. The terms are shuffled, so that similar ones are rarely neighbours. */
export function createTerms(instruments: readonly { symbol: string; name: string }[]) {
  const terms = new Set<string>();
  for (const { symbol, name } of instruments) {
    for (const text of [symbol, name]) {
      const longest = Math.min(LONGEST, text.length);
      for (let end = SHORTEST; end <= longest; end += 1) terms.add(text.slice(0, end).trim());
    }
  }
  // The seed makes the order the same in each run.
  const random = createSeededRandom(1);
  const shuffled = [...terms]
    .map((term) => ({ term, order: random.next() }))
    .sort((one, other) => one.order - other.order)
    .map(({ term }) => term);
  let used = 0;
  return {
    next(): string {
      const term = shuffled[used % shuffled.length] as string;
      // When all terms are used, they follow in the next spelling.
      const passes = Math.floor(used / shuffled.length);
      const spell = SPELLINGS[passes % SPELLINGS.length];
      used += 1;
      return spell?.(term) ?? term;
    },
  };
}
