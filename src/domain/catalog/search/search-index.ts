import type { Instrument } from '../../../gateway/operations/get-all-tickers.ts';
import { memo } from '../../../lib/caches.ts';
import { Slices } from '../../../lib/event-loop-turns.ts';
import { isTypoOf, lettersOf, MIN_LENGTH_OF_TYPO, mayBeTypo } from '../../../lib/typo.ts';
import { compareText, firstWhere } from '../sorting.ts';

/** Diacritics and invisible characters. */
const MARKS = /[\p{M}\p{Cf}]+/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII, controls included
const ASCII = /^[\x00-\x7f]*$/;

/** Drops case, diacritics and invisible characters, equally in every locale. Search and the order by name compare such texts. */
function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text.normalize('NFKD').replace(MARKS, '').toLowerCase();
}

// Punctuation belongs to a word only inside it: `BRK.B`, `AT&T` and `S&P` stay whole.
const OUTER_PUNCTUATION = /^[\p{P}\p{S}]+|[\p{P}\p{S}]+$/gu;
const INNER_PUNCTUATION = /[\p{P}\p{S}]+/u;

/** The parts of a folded text between spaces. */
function chunks(folded: string): string[] {
  return folded.split(/\s+/).filter((chunk) => chunk !== '');
}

/** A chunk without the punctuation around it. A chunk of only punctuation stays as it is. */
function bare(chunk: string): string {
  return chunk.replace(OUTER_PUNCTUATION, '') || chunk;
}

/**
 * The words by which a text is found: each whole word, the word without punctuation (`us` of `U.S.`), and its parts (`cola`
 * of `coca-cola`, `cash` of the symbol `us500.cash`).
 */
function splitWords(folded: string): string[] {
  return chunks(folded).flatMap((chunk) => {
    const word = bare(chunk);
    const parts = word.split(INNER_PUNCTUATION);
    const words = parts.length > 1 ? [word, parts.join(''), ...parts] : [word];
    return words.filter((each) => each !== '');
  });
}

// A typed search is short. A longer one would only cost time.
const MAX_TERM_LENGTH = 100;
const MAX_WORDS = 8;

/** The words of a search, folded, with single spaces. An empty term matches everything, as without a search. */
export function toSearchTerm(search: string | null | undefined): string {
  // Cut before folding, because folding a long text costs time, and after it, because folding can lengthen a text.
  const folded = fold((search ?? '').trim().slice(0, MAX_TERM_LENGTH)).slice(0, MAX_TERM_LENGTH);
  return chunks(folded).slice(0, MAX_WORDS).join(' ');
}

/** A word with the ordinals of its instruments. */
interface Entry {
  readonly word: string;
  readonly ordinals: number[];
}

/** Words of one length. `letters` has the letters of each. */
interface SameLength {
  readonly entries: readonly Entry[];
  readonly letters: Int32Array;
}

/**
 * An inverted index of the instruments by word. All words are added before the first look-up. A look-up sets the class of each
 * instrument that it finds.
 */
class WordIndex {
  readonly #byWord = new Map<string, Entry>();
  #sorted: readonly Entry[] | null = null;
  #byLength: ReadonlyMap<number, SameLength> | null = null;

  /** Ordinals must be added in ascending order. */
  add(word: string, ordinal: number): void {
    const { ordinals } = memo(this.#byWord, word, (): Entry => ({ word, ordinals: [] }));
    if (ordinals.at(-1) !== ordinal) ordinals.push(ordinal);
  }

  markWord(classes: Uint8Array, word: string, match: number): void {
    const entry = this.#byWord.get(word);
    if (entry !== undefined) mark(classes, entry, match);
  }

  markPrefix(classes: Uint8Array, prefix: string, match: number): void {
    // Sorted, so words with the same prefix are adjacent.
    this.#sorted ??= [...this.#byWord.values()].sort((a, b) => compareText(a.word, b.word));
    const sorted = this.#sorted;
    const from = firstWhere(0, sorted.length, (at) => (sorted[at] as Entry).word >= prefix);
    for (let at = from; sorted[at]?.word.startsWith(prefix); at += 1) {
      mark(classes, sorted[at] as Entry, match);
    }
  }

  markTypo(classes: Uint8Array, typed: string, match: number): void {
    if (typed.length < MIN_LENGTH_OF_TYPO) return;
    this.#byLength ??= byLength([...this.#byWord.values()]);
    const lettersTyped = lettersOf(typed);
    for (const length of [typed.length - 1, typed.length, typed.length + 1]) {
      const { entries, letters } = this.#byLength.get(length) ?? NO_WORDS;
      // A loop over the numbers alone, which is several times as fast as one that reads each word.
      for (let at = 0; at < letters.length; at += 1) {
        if (!mayBeTypo(letters[at] as number, lettersTyped)) continue;
        const entry = entries[at] as Entry;
        if (isTypoOf(entry.word, typed)) mark(classes, entry, match);
      }
    }
  }
}

const NO_WORDS: SameLength = { entries: [], letters: new Int32Array() };

function byLength(all: readonly Entry[]): ReadonlyMap<number, SameLength> {
  const groups = Map.groupBy(all, ({ word }) => word.length);
  const lettersIn = ({ word }: Entry) => lettersOf(word);
  return new Map(
    [...groups].map(([length, entries]) => [
      length,
      { entries, letters: Int32Array.from(entries, lettersIn) },
    ]),
  );
}

function mark(classes: Uint8Array, { ordinals }: Entry, match: number): void {
  for (const ordinal of ordinals) classes[ordinal] = match;
}

/** How well an instrument matches a word: 1 is the best match, 0 is no match. */
export const MATCH = {
  none: 0,
  symbol: 1,
  symbolPrefix: 2,
  name: 3,
  description: 4,
  typo: 5,
} as const;

// A typo in a short word of a long text is nearly always another word.
const MIN_TYPO_LENGTH_IN_DESCRIPTION = 6;

export interface Matches {
  /** The match class of each instrument by ordinal. */
  readonly classes: Uint8Array;
  /** The ordinals of the matches: by class, then in the version's order. */
  readonly ordinals: Uint32Array;
}

/** The word indexes of a version, by the source of their words. */
interface SearchWords {
  readonly symbols: WordIndex;
  readonly names: WordIndex;
  readonly descriptions: WordIndex;
}

/** An instrument's class depends only on itself and the term, so pages stay consistent when other instruments change. */
export class SearchIndex {
  readonly #size: number;
  readonly #words: SearchWords;

  constructor(size: number, words: SearchWords) {
    this.#size = size;
    this.#words = words;
  }

  /** `term` is not empty, and all of its words have to match. Its class is the worst class of its words. */
  find(term: string): Matches {
    const words = term.split(' ').map((word) => this.#classesOfWord(word));
    const [classes = new Uint8Array(this.#size), ...others] = words;
    for (const other of others) {
      for (let ordinal = 0; ordinal < classes.length; ordinal += 1) {
        const a = classes[ordinal] as number;
        const b = other[ordinal] as number;
        classes[ordinal] = a === MATCH.none || b === MATCH.none ? MATCH.none : Math.max(a, b);
      }
    }
    // A symbol can contain a space.
    this.#markSymbols(classes, term);
    return { classes, ordinals: inOrder(classes) };
  }

  #classesOfWord(word: string): Uint8Array {
    const { symbols, names, descriptions } = this.#words;
    const classes = new Uint8Array(this.#size);
    const text = bare(word);
    // Marks from the weakest class to the best. Each mark overwrites the one before.
    const isShort = text.length < MIN_TYPO_LENGTH_IN_DESCRIPTION;
    for (const index of isShort ? [symbols, names] : [symbols, names, descriptions]) {
      index.markTypo(classes, text, MATCH.typo);
    }
    descriptions.markPrefix(classes, text, MATCH.description);
    names.markPrefix(classes, text, MATCH.name);
    // The text as typed, because a symbol can begin with a punctuation mark.
    this.#markSymbols(classes, word);
    return classes;
  }

  #markSymbols(classes: Uint8Array, symbol: string): void {
    const { symbols } = this.#words;
    symbols.markPrefix(classes, symbol, MATCH.symbolPrefix);
    symbols.markWord(classes, symbol, MATCH.symbol);
  }
}

/** Class by class, each in the version's order. */
function inOrder(classes: Uint8Array): Uint32Array {
  const byClass = Object.values(MATCH).map((): number[] => []);
  for (let ordinal = 0; ordinal < classes.length; ordinal += 1) {
    const match = classes[ordinal] as number;
    // Most searches match a few instruments only.
    if (match !== MATCH.none) byClass[match]?.push(ordinal);
  }
  // Several times as fast as `from`, which iterates.
  return new Uint32Array(byClass.flat());
}

export type CatalogIndex = Awaited<ReturnType<typeof buildIndex>>;

/** Lookup tables that are built once per version, so that queries do not pay for them. */
export async function buildIndex(instruments: readonly Instrument[]) {
  const slices = new Slices();
  // The request that caused the new version is answered first.
  await slices.next();
  const nameKeys: string[] = [];
  const symbols = new WordIndex();
  const names = new WordIndex();
  const descriptions = new WordIndex();
  for (const [ordinal, instrument] of instruments.entries()) {
    if (slices.isOver) await slices.next();
    const { symbol, name, description } = instrument;
    const nameKey = fold(name);
    nameKeys.push(nameKey);
    const key = fold(symbol);
    symbols.add(key, ordinal);
    // `symbols` finds a symbol by its beginning alone. A quote currency within it, and its other words, are found like words
    // of the name: `usd` finds EURUSD, and `cash` finds US500.cash.
    const quote = fold(instrument.pCurrency);
    if (quote !== '' && key.includes(quote)) names.add(quote, ordinal);
    for (const word of splitWords(`${nameKey} ${key}`)) names.add(word, ordinal);
    for (const word of splitWords(fold(description))) descriptions.add(word, ordinal);
  }
  const at = (ordinal: number) => instruments[ordinal] as Instrument;
  const byId = (a: number, b: number) => compareText(at(a).id, at(b).id);
  const ordinals = instruments.map((_instrument, ordinal) => ordinal);
  const sorted = (compare: (a: number, b: number) => number) =>
    Uint32Array.from(ordinals.toSorted((a, b) => compare(a, b) || byId(a, b)));
  // Each of these steps takes less than 20 ms for 10,000 instruments.
  await slices.next();
  const byName = sorted((a, b) => compareText(nameKeys[a] ?? '', nameKeys[b] ?? ''));
  await slices.next();
  const byLeverage = sorted((a, b) => at(a).leverage - at(b).leverage);
  return {
    /** The folded names by ordinal. `byName` is sorted by them, not by the names, so that `eBay` is among the E. */
    nameKeys,
    /** Ordinals by folded name, then id. */
    byName,
    /** Ordinals by leverage, then id. */
    byLeverage,
    search: new SearchIndex(instruments.length, { symbols, names, descriptions }),
  };
}
