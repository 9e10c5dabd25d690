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
export function fold(text: string): string {
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

interface Entry {
  readonly word: string;
  readonly letters: number;
  readonly ordinals: number[];
}

/**
 * An inverted index of the instruments by word. All words are added before the first look-up. A look-up sets the class of each
 * instrument that it finds.
 */
class WordIndex {
  readonly #byWord = new Map<string, Entry>();
  #sorted: readonly Entry[] | null = null;

  /** Ordinals must be added in ascending order. */
  add(word: string, ordinal: number): void {
    const make = (): Entry => ({ word, letters: lettersOf(word), ordinals: [] });
    const { ordinals } = memo(this.#byWord, word, make);
    if (ordinals.at(-1) !== ordinal) ordinals.push(ordinal);
  }

  markWord(classes: Uint8Array, word: string, match: number): void {
    const entry = this.#byWord.get(word);
    if (entry !== undefined) mark(classes, entry, match);
  }

  markPrefix(classes: Uint8Array, prefix: string, match: number): void {
    // Words with the same prefix are adjacent.
    const sorted = this.#words;
    const from = firstWhere(sorted.length, (at) => (sorted[at] as Entry).word >= prefix);
    for (let at = from; sorted[at]?.word.startsWith(prefix); at += 1) {
      mark(classes, sorted[at] as Entry, match);
    }
  }

  markTypo(classes: Uint8Array, typed: string, match: number): void {
    if (typed.length < MIN_LENGTH_OF_TYPO) return;
    const lettersTyped = lettersOf(typed);
    for (const entry of this.#words) {
      if (mayBeTypo(entry.letters, lettersTyped) && isTypoOf(entry.word, typed)) {
        mark(classes, entry, match);
      }
    }
  }

  get #words(): readonly Entry[] {
    this.#sorted ??= [...this.#byWord.values()].sort((a, b) => compareText(a.word, b.word));
    return this.#sorted;
  }
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
  /** The instruments found: by class, then in the version's order. */
  readonly instruments: readonly Instrument[];
  readonly classOf: (instrument: Instrument) => number;
}

/** Lookup tables that are built once per version, so that queries do not pay for them. */
export type CatalogIndex = Awaited<ReturnType<typeof buildIndex>>;

interface SearchWords {
  readonly symbols: WordIndex;
  readonly names: WordIndex;
  readonly descriptions: WordIndex;
}

/** An instrument's class depends only on itself and the term, so pages stay consistent when other instruments change. */
class SearchIndex {
  readonly #instruments: readonly Instrument[];
  readonly #ordinals: ReadonlyMap<Instrument, number>;
  readonly #words: SearchWords;

  constructor(instruments: readonly Instrument[], words: SearchWords) {
    this.#instruments = instruments;
    this.#ordinals = new Map(instruments.map((instrument, ordinal) => [instrument, ordinal]));
    this.#words = words;
  }

  /** `term` is not empty, and all of its words have to match. Its class is the worst class of its words. */
  find(term: string): Matches {
    const words = term.split(' ').map((word) => this.#classesOfWord(word));
    const [classes = this.#noClasses(), ...others] = words;
    for (const other of others) {
      for (let ordinal = 0; ordinal < classes.length; ordinal += 1) {
        const a = classes[ordinal] as number;
        const b = other[ordinal] as number;
        classes[ordinal] = a === MATCH.none || b === MATCH.none ? MATCH.none : Math.max(a, b);
      }
    }
    // A symbol can contain a space.
    this.#markSymbols(classes, term);
    const byClass = Object.values(MATCH).map((): Instrument[] => []);
    for (let ordinal = 0; ordinal < classes.length; ordinal += 1) {
      const match = classes[ordinal] as number;
      // Most searches match a few instruments only.
      if (match !== MATCH.none) byClass[match]?.push(this.#instruments[ordinal] as Instrument);
    }
    return {
      instruments: byClass.flat(),
      classOf: (instrument) => classes[this.#ordinals.get(instrument) as number] as number,
    };
  }

  #noClasses(): Uint8Array {
    return new Uint8Array(this.#instruments.length);
  }

  #classesOfWord(word: string): Uint8Array {
    const { symbols, names, descriptions } = this.#words;
    const classes = this.#noClasses();
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

export async function buildIndex(instruments: readonly Instrument[]) {
  const slices = new Slices();
  const nameKeys = new Map<Instrument, string>();
  const symbols = new WordIndex();
  const names = new WordIndex();
  const descriptions = new WordIndex();
  for (const [ordinal, instrument] of instruments.entries()) {
    if (slices.isOver) await slices.next();
    const { symbol, name, description } = instrument;
    const nameKey = fold(name);
    nameKeys.set(instrument, nameKey);
    const key = fold(symbol);
    symbols.add(key, ordinal);
    // `symbols` finds a symbol by its beginning alone. A quote currency within it, and its other words, are found like words
    // of the name: `usd` finds EURUSD, and `cash` finds US500.cash.
    const quote = fold(instrument.pCurrency);
    if (quote !== '' && key.includes(quote)) names.add(quote, ordinal);
    for (const word of splitWords(`${nameKey} ${key}`)) names.add(word, ordinal);
    for (const word of splitWords(fold(description))) descriptions.add(word, ordinal);
  }
  const sorted = (compare: (a: Instrument, b: Instrument) => number) =>
    instruments.toSorted((a, b) => compare(a, b) || compareText(a.id, b.id));
  const nameKeyOf = (instrument: Instrument) => nameKeys.get(instrument) ?? '';
  // Each of these steps takes less than 20 ms for 10,000 instruments.
  await slices.next();
  const byName = sorted((a, b) => compareText(nameKeyOf(a), nameKeyOf(b)));
  await slices.next();
  const byLeverage = sorted((a, b) => a.leverage - b.leverage);
  return {
    /** By folded name, so that `eBay` is among the E. */
    byName,
    byLeverage,
    search: new SearchIndex(instruments, { symbols, names, descriptions }),
  };
}
