import { LRUCache } from 'lru-cache';
import { joined } from './currency-pair.ts';
import { findTypos } from './typos.ts';
import type { Visit, WordIndex } from './word-index.ts';
import type { SearchTerm } from './words.ts';

/** How well an instrument matches a word, best first; 0 is no match. */
export const MATCH = {
  none: 0,
  symbol: 1,
  symbolPrefix: 2,
  pair: 3,
  name: 4,
  description: 5,
  typo: 6,
} as const;
const WORST_MATCH = MATCH.typo;

// A typo in a short word of a long text is nearly always another word.
const SHORTEST_TYPO_IN_DESCRIPTION = 6;
/** Memory limit of the searches that are memoized for one version. */
export const REMEMBERED_BYTES = 1024 * 1024;

export interface Matches {
  /** The match class of each instrument by ordinal. */
  readonly classes: Uint8Array;
  /** The ordinals of the matches: by class, then in the version's order. */
  readonly ordinals: Uint32Array;
}

/** The indexes of a version, by what their words stand for. */
export interface SearchWords {
  readonly symbols: WordIndex;
  /** The currencies of pairs. */
  readonly currencies: WordIndex;
  /** Every pair as one word, such as `eurusd`. */
  readonly pairs: ReadonlySet<string>;
  readonly names: WordIndex;
  readonly descriptions: WordIndex;
}

export type SearchIndex = ReturnType<typeof createSearchIndex>;

/**
 * An instrument's class depends on nothing but the instrument and the term, so that pages stay consistent
 * when others are added or removed.
 */
export function createSearchIndex(
  size: number,
  { symbols, currencies, pairs, names, descriptions }: SearchWords,
) {
  // Memoized for the pages of one search, and for the first letters that many clients type.
  const recent = new LRUCache<string, Matches>({
    maxSize: REMEMBERED_BYTES,
    sizeCalculation: ({ classes, ordinals }) => classes.byteLength + ordinals.byteLength + 200,
  });

  /** `eur usd` and `eur/usd` are other spellings of `eurusd`. */
  function asPair(term: SearchTerm): SearchTerm {
    const pair = joined(term.phrase);
    if (pair === term.phrase || !pairs.has(pair)) return term;
    return { phrase: pair, words: [{ symbol: pair, text: pair }] };
  }

  /** Every word has to match; the worst match is the class of the whole. */
  function classesOf({ phrase, words }: SearchTerm): Uint8Array {
    const [first, ...others] = words.map(({ symbol, text }) => classesOfWord(symbol, text));
    const classes = first ?? new Uint8Array(size);
    for (const other of others) {
      for (let ordinal = 0; ordinal < classes.length; ordinal += 1) {
        const a = classes[ordinal] as number;
        const b = other[ordinal] as number;
        classes[ordinal] = a === MATCH.none || b === MATCH.none ? MATCH.none : Math.max(a, b);
      }
    }
    // A symbol may contain a space.
    markSymbols(classes, phrase);
    return classes;
  }

  function classesOfWord(symbol: string, text: string): Uint8Array {
    const classes = new Uint8Array(size);
    // Marks from the weakest class to the best, each overwriting the one before.
    const asTypo = marking(classes, MATCH.typo);
    const isShort = text.length < SHORTEST_TYPO_IN_DESCRIPTION;
    for (const index of isShort ? [symbols, names] : [symbols, names, descriptions]) {
      findTypos(index, text, (at) => index.visitRange(at, at + 1, asTypo));
    }
    descriptions.withPrefix(text, marking(classes, MATCH.description));
    names.withPrefix(text, marking(classes, MATCH.name));
    currencies.withPrefix(text, marking(classes, MATCH.pair));
    markSymbols(classes, symbol);
    return classes;
  }

  function markSymbols(classes: Uint8Array, symbol: string): void {
    symbols.withPrefix(symbol, marking(classes, MATCH.symbolPrefix));
    symbols.withWord(symbol, marking(classes, MATCH.symbol));
  }

  return {
    find(asked: SearchTerm): Matches {
      const term = asPair(asked);
      const known = recent.get(term.phrase);
      if (known) return known;
      const classes = classesOf(term);
      const matches = { classes, ordinals: inOrder(classes) };
      recent.set(term.phrase, matches);
      return matches;
    },
  };
}

function marking(classes: Uint8Array, match: number): Visit {
  return (ordinal) => {
    classes[ordinal] = match;
  };
}

/** Class by class, each in the version's order. */
function inOrder(classes: Uint8Array): Uint32Array {
  const ordinals = new Uint32Array(classes.length);
  let found = 0;
  for (let match: number = MATCH.symbol; match <= WORST_MATCH; match += 1) {
    for (let ordinal = 0; ordinal < classes.length; ordinal += 1) {
      if (classes[ordinal] === match) ordinals[found++] = ordinal;
    }
  }
  return ordinals.slice(0, found);
}
