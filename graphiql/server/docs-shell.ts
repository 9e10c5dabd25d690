import type { Docs, DocsPage, Reader } from './docs-pages.ts';
import { escapeHtml, type Heading } from './markdown.ts';

export interface Shell {
  readonly docs: Docs;
  /** Where the style and the scripts of the site are. */
  readonly assets: string;
  readonly page: DocsPage;
  readonly main: string;
  readonly query?: string;
  /** Off in the static folder, beside which nothing else is served. */
  readonly hasService: boolean;
}

/** A whole page of the site around its text. */
export function shell({ docs, assets, page, main, query = '', hasService }: Shell): string {
  const field = `<input type="search" name="q" aria-label="Search the documentation" placeholder="Search: press /" autocomplete="off" value="${escapeHtml(query)}" />`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="color-scheme" content="light dark" />
<title>${escapeHtml(query ? `Search: ${query}` : page.title)} · Trading Graph</title>
<link rel="icon" href="data:," />
<link rel="stylesheet" href="${assets}/style.css" />
<script type="module" src="${assets}/site.js"></script>
</head>
<body>
<a class="skip" href="#main">To the text</a>
<header class="bar">
<a class="brand" href="/docs">Trading Graph</a>
<form${hasService ? ' action="/docs"' : ''} role="search">${field}<button>Search</button></form>
<a class="to-pages" href="#pages">All pages</a>
${hasService ? '<a href="/">Start</a>\n<a href="/graphql">GraphiQL</a>' : ''}
</header>
<div class="columns">
<main id="main" tabindex="-1">
${main}
</main>
<nav id="pages" class="pages" aria-label="Documentation">
${docs.readers.map((reader) => group(reader, page)).join('\n')}
</nav>
</div>
</body>
</html>
`;
}

/** The text of a page, with its contents before it, and where it comes from and what is next behind it. */
export function article({ html, headings, path, file }: DocsPage, docs: Docs): string {
  const list = contents(headings.filter(({ depth }) => depth === 2 || depth === 3));
  const changed = docs.changed.get(file);
  const last = changed === undefined ? '' : `<p class="changed">Last changed ${changed}</p>`;
  return `<article>${html.replace('</h1>\n', (end) => `${end}${list}`)}${last}${neighbours(docs, path)}</article>`;
}

function group({ who, pages }: Reader, current: DocsPage): string {
  const items = pages.map((page) => {
    const here = page === current ? ' aria-current="page"' : '';
    return `<li><a href="${page.path}"${here}>${escapeHtml(page.title)}</a></li>`;
  });
  return `<h2>${who}</h2>\n<ul>${items.join('')}</ul>`;
}

function contents(headings: readonly Heading[]): string {
  if (headings.length < 3) return '';
  const items = headings.map(
    ({ depth, id, title }) =>
      `<li class="depth-${depth}"><a href="#${id}">${escapeHtml(title)}</a></li>`,
  );
  return `<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>${items.join('')}</ul></nav>`;
}

function neighbours({ readers }: Docs, path: string): string {
  const pages = readers.flatMap((reader) => reader.pages);
  const at = pages.findIndex((page) => page.path === path);
  if (at < 0) return '';
  const to = (page: DocsPage | undefined, rel: string, says: string) =>
    page
      ? `<a rel="${rel}" href="${page.path}"><span>${says}</span> ${escapeHtml(page.title)}</a>`
      : '';
  return `<nav class="neighbours" aria-label="Neighbouring pages">${to(pages[at - 1], 'prev', 'Previous')}${to(pages[at + 1], 'next', 'Next')}</nav>`;
}
