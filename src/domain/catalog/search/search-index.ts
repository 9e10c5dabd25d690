import { isTypoOf, lettersOf, MIN_LENGTH_OF_TYPO, mayBeTypo } from '../../../lib/typo.ts';
import { compareText, firstWhere } from '../sorting.ts';
import { bare } from './search-words.ts';

/** An inverted index of the instruments by word. All words are added before the first look-up. */
export class WordIndex {
  readonly #ordinals = new Map<string, number[]>();
  #sorted: readonly string[] | null = null;
  /** The letters of each sorted word. */
  #letters: Int32Array | null = null;

  /** Ordinals must be added in ascending order. */
  add(word: string, ordinal: number): void {
    const known = this.#ordinals.get(word);
    if (known === undefined) this.#ordinals.set(word, [ordinal]);
    else if (known.at(-1) !== ordinal) known.push(ordinal);
  }

  withWord(word: string): readonly number[] {
    return this.#ordinals.get(word) ?? [];
  }

  /** Can return an ordinal twice. */
  withPrefix(prefix: string): readonly number[] {
    const words = this.#words;
    const from = firstWhere(0, words.length, (at) => (words[at] as string) >= prefix);
    const beyond = firstWhere(from, words.length, (at) => !words[at]?.startsWith(prefix));
    return words.slice(from, beyond).flatMap((word) => this.withWord(word));
  }

  /** Can return an ordinal twice. */
  withTypo(typed: string): readonly number[] {
    if (typed.length < MIN_LENGTH_OF_TYPO) return [];
    this.#letters ??= Int32Array.from(this.#words, lettersOf);
    const letters = this.#letters;
    const lettersTyped = lettersOf(typed);
    const typos: string[] = [];
    // A loop over the numbers alone, which is several times as fast as one that reads each word.
    for (let at = 0; at < letters.length; at += 1) {
      if (!mayBeTypo(letters[at] as number, lettersTyped)) continue;
      const word = this.#words[at] as string;
      if (isTypoOf(word, typed)) typos.push(word);
    }
    return typos.flatMap((word) => this.withWord(word));
  }

  /** Sorted, so words with the same prefix are adjacent. */
  get #words(): readonly string[] {
    this.#sorted ??= [...this.#ordinals.keys()].sort(compareText);
    return this.#sorted;
  }
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
      mark(classes, index.withTypo(text), MATCH.typo);
    }
    mark(classes, descriptions.withPrefix(text), MATCH.description);
    mark(classes, names.withPrefix(text), MATCH.name);
    // The text as typed, because a symbol can begin with a punctuation mark.
    this.#markSymbols(classes, word);
    return classes;
  }

  #markSymbols(classes: Uint8Array, symbol: string): void {
    const { symbols } = this.#words;
    mark(classes, symbols.withPrefix(symbol), MATCH.symbolPrefix);
    mark(classes, symbols.withWord(symbol), MATCH.symbol);
  }
}

function mark(classes: Uint8Array, ordinals: readonly number[], match: number): void {
  for (const ordinal of ordinals) classes[ordinal] = match;
}

/** Class by class, each in the version's order. */
function inOrder(classes: Uint8Array): Uint32Array {
  const byClass = Object.values(MATCH).map((): number[] => []);
  for (let ordinal = 0; ordinal < classes.length; ordinal += 1) {
    const match = classes[ordinal] as number;
    // Most searches match a few instruments only.
    if (match !== MATCH.none) byClass[match]?.push(ordinal);
  }
  return Uint32Array.from(byClass.flat());
}
