import { currencyPairOf, joined } from '../../../lib/currency-pair.ts';
import {
  bare,
  fold,
  laterParts,
  splitWords,
  symbolForms,
  toSearchTerm,
} from '../../../lib/search-words.ts';
import { lettersIn, typoTest } from '../../../lib/typos.ts';
import type { KeyFields } from './instrument.ts';

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

// A typo in a short word of a long text is nearly always another word.
const MIN_TYPO_LENGTH_IN_DESCRIPTION = 6;

/**
 * Searches as the server's `instruments(filter: { search })` does, with the same order. Currency pairs are found
 * by their second currency where the copy has `pCurrency`, and descriptions are searched where it has them.
 */
export class CatalogSearch<Row extends KeyFields> {
  readonly #rows: readonly Row[];
  /** The rows whose words are known are those before. */
  #indexed = 0;
  readonly #symbols = new Words();
  readonly #currencies = new Words();
  readonly #pairs = new Set<string>();
  readonly #names = new Words();
  readonly #descriptions = new Words();

  constructor(rows: readonly Row[]) {
    this.#rows = rows;
  }

  /** Takes up the words of the next rows while there is time for another; false where some are left. */
  index(hasTime: () => boolean): boolean {
    for (let row = this.#rows[this.#indexed]; row; row = this.#rows[this.#indexed]) {
      if (!hasTime()) return false;
      this.#add(row, this.#indexed);
      this.#indexed += 1;
    }
    return true;
  }

  /** At most so many, best first. Words that are not known yet are taken up before. */
  find(text: string, limit: number): readonly Row[] {
    const most = Math.max(0, limit);
    const term = toSearchTerm(text);
    if (term === '') return this.#rows.slice(0, most);
    this.index(() => true);
    const pair = joined(term);
    const words = this.#pairs.has(pair) ? [pair] : term.split(' ');
    const [first = new Uint8Array(), ...others] = words.map((word) => this.#matches(word));
    // Every word has to match, and the worst match is that of the whole.
    for (const other of others) {
      for (let ordinal = 0; ordinal < other.length; ordinal += 1) {
        const known = first[ordinal] ?? MATCH.none;
        const match = other[ordinal] ?? MATCH.none;
        first[ordinal] = known === MATCH.none || match === MATCH.none ? 0 : Math.max(known, match);
      }
    }
    // A symbol may contain a space.
    if (others.length > 0) this.#markSymbols(first, words.join(' '));
    return best(this.#rows, first, most);
  }

  #add(row: Row, ordinal: number): void {
    const folded = fold(row.symbol);
    for (const form of symbolForms(folded)) this.#symbols.add(form, ordinal);
    const pair = currencyPairOf(row);
    if (pair !== null) {
      const word = pair.base + pair.quote;
      this.#pairs.add(word);
      if (joined(folded) === word) this.#symbols.add(word, ordinal);
      this.#currencies.add(pair.base, ordinal);
      this.#currencies.add(pair.quote, ordinal);
    }
    for (const word of splitWords(fold(row.name))) this.#names.add(word, ordinal);
    for (const part of laterParts(folded)) this.#names.add(part, ordinal);
    for (const word of splitWords(fold(row.description ?? '')))
      this.#descriptions.add(word, ordinal);
  }

  /** Marks from the weakest match to the best, each overwriting the one before. */
  #matches(symbol: string): Uint8Array {
    const text = bare(symbol);
    const matches = new Uint8Array(this.#rows.length);
    const isTypo = typoTest(text);
    if (isTypo !== null) {
      this.#symbols.mark(matches, MATCH.typo, '', isTypo);
      this.#names.mark(matches, MATCH.typo, '', isTypo);
      if (text.length >= MIN_TYPO_LENGTH_IN_DESCRIPTION) {
        this.#descriptions.mark(matches, MATCH.typo, '', isTypo);
      }
    }
    this.#descriptions.mark(matches, MATCH.description, text);
    this.#names.mark(matches, MATCH.name, text);
    this.#currencies.mark(matches, MATCH.pair, text);
    this.#markSymbols(matches, symbol);
    return matches;
  }

  #markSymbols(matches: Uint8Array, symbol: string): void {
    this.#symbols.mark(matches, MATCH.symbolPrefix, symbol);
    this.#symbols.mark(matches, MATCH.symbol, symbol, (word) => word === symbol);
  }
}

/** Sorts by match, then in the order of the rows. */
function best<Row>(rows: readonly Row[], matches: Uint8Array, limit: number): Row[] {
  const classes: Row[][] = Object.values(MATCH).map(() => []);
  for (let ordinal = 0; ordinal < rows.length; ordinal += 1) {
    const row = rows[ordinal];
    if (matches[ordinal] !== MATCH.none && row) classes[matches[ordinal] ?? 0]?.push(row);
  }
  return classes.flat().slice(0, limit);
}

interface Word {
  readonly word: string;
  readonly letters: number;
  readonly ordinals: number[];
}

/** The distinct words of one field, each with the rows that contain it. */
class Words {
  readonly #words = new Map<string, Word>();
  /** The words by their first two letters: to sort all of them would be one long stop. */
  readonly #byBeginning = new Map<string, Word[]>();

  add(word: string, ordinal: number): void {
    const known = this.#words.get(word);
    if (known === undefined) {
      const added = { word, letters: lettersIn(word), ordinals: [ordinal] };
      const alike = this.#byBeginning.get(word.slice(0, 2)) ?? [];
      this.#words.set(word, added);
      this.#byBeginning.set(word.slice(0, 2), alike);
      alike.push(added);
    } else if (known.ordinals.at(-1) !== ordinal) {
      known.ordinals.push(ordinal);
    }
  }

  /** Returns the words that begin with the text and match; without a test all of them. */
  mark(
    matches: Uint8Array,
    match: number,
    text: string,
    isMatch = (word: string, _letters: number) => word.startsWith(text),
  ): void {
    const begun = text.slice(0, 2);
    const own = [[begun, this.#byBeginning.get(begun) ?? []] as const];
    for (const [beginning, words] of begun.length === 2 ? own : this.#byBeginning) {
      if (!beginning.startsWith(begun)) continue;
      for (const { word, letters, ordinals } of words) {
        if (isMatch(word, letters)) for (const ordinal of ordinals) matches[ordinal] = match;
      }
    }
  }
}
