import type MiniSearch from 'minisearch';

/** The unit of a search: the text below one heading of a page. */
export interface Section {
  /** The page's path: `/docs/live`. */
  readonly path: string;
  /** The title of the page. */
  readonly page: string;
  /** The anchor of the heading. */
  readonly id: string;
  readonly title: string;
  readonly text: string;
  /** Below 1 for pages about how the project is made, which fewer people look for. */
  readonly weight: number;
}

/** A page, with its best section and the words by which it was found, as the index has them. */
export interface Found {
  readonly section: Section;
  readonly terms: readonly string[];
}

/** Words that people type in search of a section, by its title: the text has others. */
export const WORDS: ReadonlyMap<string, string>;

export function createSearch(
  library: typeof MiniSearch,
  sections: readonly Section[],
): Promise<(query: string) => readonly Found[]>;

/** A part of an excerpt; a word that was found is marked. */
export interface Piece {
  readonly text: string;
  readonly isFound: boolean;
}

/** The words around the first one that was found, from a word's beginning to a word's end. */
export function excerptOf(found: Found): readonly Piece[];
