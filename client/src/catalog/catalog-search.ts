import { currencyPairOf, joined } from './currency-pair.ts';
import { bare, chunks, fold, wordsOf } from './fold.ts';
import type { KeyFields } from './instrument.ts';
import { lettersOf, typoTest } from './typos.ts';

/** Finds instruments by a text; `limit` bounds how many. */
export type CatalogSearch<Row> = (text: string, limit: number) => readonly Row[];

/** How well an instrument matches a word, best first; 0 is no match. */
const MATCH = {
  none: 0,
  symbol: 1,
  symbolPrefix: 2,
  pair: 3,
  name: 4,
  description: 5,
  typo: 6,
} as const;

const LONGEST_TEXT = 100;
const MOST_WORDS = 8;
// A typo in a short word of a long text is nearly always another word.
const SHORTEST_TYPO_IN_DESCRIPTION = 6;

/**
 * Searches as the server's `instruments(filter: { search })` does, with the same order. Currency pairs are found
 * by their second currency where the copy has `pCurrency`.
 */
export function createSearch<Row extends KeyFields>(rows: readonly Row[]): CatalogSearch<Row> {
  const symbols = new Words();
  const currencies = new Words();
  const pairs = new Set<string>();
  const names = new Words();
  const descriptions = new Words();
  for (const [ordinal, row] of rows.entries()) {
    const { symbol, name, description } = row;
    const folded = fold(symbol);
    symbols.add(folded, ordinal);
    // A symbol is found without the mark before it as well, as `DJI` finds `.DJI`.
    symbols.add(bare(folded), ordinal);
    const pair = currencyPairOf(row);
    if (pair !== null) {
      const word = pair.base + pair.quote;
      pairs.add(word);
      if (joined(folded) === word) symbols.add(word, ordinal);
      currencies.add(pair.base, ordinal);
      currencies.add(pair.quote, ordinal);
    }
    for (const word of wordsOf(fold(name))) names.add(word, ordinal);
    for (const word of wordsOf(fold(description))) descriptions.add(word, ordinal);
  }

  /** Marks from the weakest match to the best, each overwriting the one before. */
  function matchesOf(symbol: string, text: string): Uint8Array {
    const matches = new Uint8Array(rows.length);
    const isTypo = typoTest(text);
    if (isTypo !== null) {
      symbols.mark(matches, MATCH.typo, isTypo);
      names.mark(matches, MATCH.typo, isTypo);
      if (text.length >= SHORTEST_TYPO_IN_DESCRIPTION) {
        descriptions.mark(matches, MATCH.typo, isTypo);
      }
    }
    descriptions.mark(matches, MATCH.description, (word) => word.startsWith(text));
    names.mark(matches, MATCH.name, (word) => word.startsWith(text));
    currencies.mark(matches, MATCH.pair, (word) => word.startsWith(text));
    markSymbols(matches, symbol);
    return matches;
  }

  function markSymbols(matches: Uint8Array, symbol: string): void {
    symbols.mark(matches, MATCH.symbolPrefix, (word) => word.startsWith(symbol));
    symbols.mark(matches, MATCH.symbol, (word) => word === symbol);
  }

  return (text, limit) => {
    const most = Math.max(0, limit);
    const typed = chunks(fold(text.trim().slice(0, LONGEST_TEXT)).slice(0, LONGEST_TEXT)).slice(
      0,
      MOST_WORDS,
    );
    const pair = joined(typed.join(' '));
    const words = pairs.has(pair) ? [pair] : typed;
    const [first, ...others] = words.map((word) => matchesOf(word, bare(word)));
    if (first === undefined) return rows.slice(0, most);
    // Every word has to match, and the worst match is that of the whole.
    for (const other of others) {
      for (const [ordinal, match] of other.entries()) {
        const known = first[ordinal] ?? MATCH.none;
        first[ordinal] = known === MATCH.none || match === MATCH.none ? 0 : Math.max(known, match);
      }
    }
    // A symbol may contain a space.
    if (others.length > 0) markSymbols(first, words.join(' '));
    return best(rows, first, most);
  };
}

/** Sorts by match, then in the order of the rows. */
function best<Row>(rows: readonly Row[], matches: Uint8Array, limit: number): Row[] {
  const classes: Row[][] = Object.values(MATCH).map(() => []);
  for (const [ordinal, match] of matches.entries()) {
    const row = rows[ordinal];
    if (match !== MATCH.none && row !== undefined) classes[match]?.push(row);
  }
  return classes.flat().slice(0, limit);
}

/** The distinct words of one field, each with the rows that contain it. */
class Words {
  readonly #words = new Map<string, { readonly letters: number; readonly ordinals: number[] }>();

  add(word: string, ordinal: number): void {
    const known = this.#words.get(word);
    if (known === undefined) {
      this.#words.set(word, { letters: lettersOf(word), ordinals: [ordinal] });
    } else if (known.ordinals.at(-1) !== ordinal) {
      known.ordinals.push(ordinal);
    }
  }

  mark(
    matches: Uint8Array,
    match: number,
    isMatch: (word: string, letters: number) => boolean,
  ): void {
    for (const [word, { letters, ordinals }] of this.#words) {
      if (!isMatch(word, letters)) continue;
      for (const ordinal of ordinals) matches[ordinal] = match;
    }
  }
}
