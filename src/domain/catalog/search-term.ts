import { fold } from './fold.ts';
import { bare, chunks } from './words.ts';

// A search that a person types is short; a longer one would only cost time.
const LONGEST_TERM = 100;
const MOST_WORDS = 8;

export interface SearchTerm {
  /** The whole term, folded, with single spaces. */
  readonly phrase: string;
  readonly words: readonly SearchWord[];
}

export interface SearchWord {
  /** The word as typed: symbols may begin with a mark. */
  readonly symbol: string;
  /** The word without the punctuation around it. */
  readonly text: string;
}

/** Null where the term is empty: then everything matches, as without a search. */
export function toSearchTerm(search: string | null | undefined): SearchTerm | null {
  const folded = fold((search ?? '').trim().slice(0, LONGEST_TERM)).slice(0, LONGEST_TERM);
  const parts = chunks(folded).slice(0, MOST_WORDS);
  if (parts.length === 0) return null;
  return {
    phrase: parts.join(' '),
    words: parts.map((part) => ({ symbol: part, text: bare(part) })),
  };
}
