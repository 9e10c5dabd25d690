import { fold } from './fold.ts';
import { bare, chunks } from './words.ts';

// What somebody types to find an instrument is short; more would only cost time.
const LONGEST_TERM = 100;
const MOST_WORDS = 8;

export interface SearchTerm {
  /** All of it, folded, with single spaces. */
  readonly phrase: string;
  readonly words: readonly SearchWord[];
}

export interface SearchWord {
  /** As typed: symbols may begin with a mark. */
  readonly symbol: string;
  /** Without the punctuation around it. */
  readonly text: string;
}

/** Null where there is nothing to search for: then everything is found, as without a search. */
export function toSearchTerm(search: string | null | undefined): SearchTerm | null {
  const folded = fold((search ?? '').trim().slice(0, LONGEST_TERM)).slice(0, LONGEST_TERM);
  const parts = chunks(folded).slice(0, MOST_WORDS);
  if (parts.length === 0) return null;
  return {
    phrase: parts.join(' '),
    words: parts.map((part) => ({ symbol: part, text: bare(part) })),
  };
}
