import MiniSearch from 'minisearch';
import { createSearch, excerptOf, type Found, type Section } from '../docs/search.js';
import type { DocsPage } from './docs-pages.ts';
import { escapeHtml } from './markdown.ts';

const MAX_PAGES = 10;
const MAX_QUERY = 100;

/** Pages about how the project is made, where most who search want to use it, and references, which have every word. */
const SECONDARY =
  /^\/docs\/(?:decisions|CHANGELOG|CONTRIBUTING|architecture|recipes|dependencies|engine|bench(?!\/)|client-api|schema)\b/;

export type Search = (query: string) => readonly Found[];

/** The sections of all pages, which the browser makes the same index of. */
export function sectionsOf(pages: Iterable<DocsPage>): readonly Section[] {
  return [...pages].flatMap(({ path, title: page, parts }) =>
    parts.map(({ heading: { id, title }, text }) => {
      return {
        path,
        page,
        id,
        title,
        text: text.trim(),
        weight: SECONDARY.test(path) ? 0.7 : 1,
      };
    }),
  );
}

export async function searchOf(sections: readonly Section[]): Promise<Search> {
  const search = await createSearch(MiniSearch, sections);
  return (query) => search(query.slice(0, MAX_QUERY)).slice(0, MAX_PAGES);
}

/** The results as a page, for browsers that run no script. */
export function resultsHtml(query: string, found: readonly Found[]): string {
  const items = found.map(({ section, terms }) => {
    const { path, id, page, title } = section;
    const place = title === page ? '' : ` <span>${escapeHtml(title)}</span>`;
    const pieces = excerptOf({ section, terms }).map(({ text, isFound }) =>
      isFound ? `<mark>${escapeHtml(text)}</mark>` : escapeHtml(text),
    );
    return `<li><a href="${path}#${id}">${escapeHtml(page)}${place}</a><p>${pieces.join('')}</p></li>`;
  });
  const none = found.length === 0 ? '<p>Nothing has any of these words.</p>' : '';
  return `<article><h1>Search: ${escapeHtml(query)}</h1>${none}<ol class="found">${items.join('')}</ol></article>`;
}
