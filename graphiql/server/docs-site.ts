import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { HttpReply } from '../../engine/transports/http/reply.ts';
import { type Site, sendNotFound } from '../../engine/transports/http/site.ts';
import { packFile, sendFile, sendPage } from '../../engine/transports/http/static-file.ts';
import { onFirstUse } from '../../lib/on-first-use.ts';
import {
  type Docs,
  type DocsPage,
  hasDocs,
  loadDocs,
  type Reader,
  searchDocs,
} from './docs-pages.ts';
import { escapeHtml, type Heading } from './markdown.ts';

const PROJECT_FOLDER = join(import.meta.dirname, '..', '..');
/** A checkout, or what `image/bundle.ts` has copied beside the program. */
const FOLDERS = [PROJECT_FOLDER, join(PROJECT_FOLDER, 'dist', 'docs')];
const LONGEST_QUERY = 100;

/** The documentation as pages, at `/docs`, made from Markdown when it is first asked for. */
export class DocsSite implements Site {
  readonly #load: () => ReturnType<typeof load>;

  private constructor(folder: string) {
    this.#load = onFirstUse(() => load(folder));
  }

  /** Null in an installation without the documentation. */
  static find(): DocsSite | null {
    const folder = FOLDERS.find(hasDocs);
    return folder === undefined ? null : new DocsSite(folder);
  }

  route({ method, url = '' }: IncomingMessage, path: string): ReturnType<Site['route']> {
    if (method !== 'GET' || (path !== '/docs' && !path.startsWith('/docs/'))) return null;
    const query = new URLSearchParams(url.split('?')[1]).get('q');
    return (reply) => reply.whenRoom(() => this.#answer(reply, path, query));
  }

  async #answer(reply: HttpReply, path: string, query: string | null): Promise<void> {
    const { docs, stylePath, style } = await this.#load();
    if (path === stylePath) return sendFile(reply, style);
    const file = docs.files.get(path);
    if (file !== undefined) {
      reply.set('content-type', 'text/plain; charset=utf-8');
      reply.set('x-content-type-options', 'nosniff');
      await reply.send(200, await readFile(file));
      return;
    }
    const page = docs.pages.get(path);
    const place = path.replace(/\/$|(?:\/README)?\.md$/, '');
    if (page === undefined && docs.pages.has(place)) {
      reply.set('location', place);
      return reply.sendNothing(302);
    }
    if (page === undefined) return void sendNotFound(reply);
    const isSearch = path === '/docs' && query !== null;
    const main = isSearch ? results(docs, query.slice(0, LONGEST_QUERY)) : article(page);
    await sendPage(reply, shell({ docs, stylePath, page, main, query: isSearch ? query : '' }), {
      scripts: "'none'",
      forms: "'self'",
    });
  }
}

async function load(folder: string) {
  const docs = await loadDocs(folder);
  const css = await readFile(join(import.meta.dirname, '..', 'docs', 'style.css'));
  const style = await packFile('text/css; charset=utf-8', css);
  return { docs, style, stylePath: `/docs/${hash('sha256', css, 'hex').slice(0, 16)}/style.css` };
}

interface Shell {
  readonly docs: Docs;
  readonly stylePath: string;
  readonly page: DocsPage;
  readonly main: string;
  readonly query: string;
}

function shell({ docs, stylePath, page, main, query }: Shell): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="color-scheme" content="light dark" />
<title>${escapeHtml(query ? `Search: ${query}` : page.title)} · Trading Graph</title>
<link rel="icon" href="data:," />
<link rel="stylesheet" href="${stylePath}" />
</head>
<body>
<a class="skip" href="#main">To the text</a>
<header class="bar">
<a class="brand" href="/docs">Trading Graph</a>
<form action="/docs" role="search"><input type="search" name="q" aria-label="Search the documentation" placeholder="Search" value="${escapeHtml(query)}" /><button>Search</button></form>
<a class="to-pages" href="#pages">All pages</a>
<a href="/graphql">GraphiQL</a>
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

function group({ who, pages }: Reader, current: DocsPage): string {
  const items = pages.map((page) => {
    const here = page === current ? ' aria-current="page"' : '';
    return `<li><a href="${page.path}"${here}>${escapeHtml(page.title)}</a></li>`;
  });
  return `<h2>${who}</h2>\n<ul>${items.join('')}</ul>`;
}

function article({ html, headings }: DocsPage): string {
  const list = contents(headings.filter(({ depth }) => depth === 2 || depth === 3));
  return `<article>${html.replace('</h1>\n', (end) => `${end}${list}`)}</article>`;
}

function contents(headings: readonly Heading[]): string {
  if (headings.length < 3) return '';
  const items = headings.map(
    ({ depth, id, title }) =>
      `<li class="depth-${depth}"><a href="#${id}">${escapeHtml(title)}</a></li>`,
  );
  return `<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>${items.join('')}</ul></nav>`;
}

function results(docs: Docs, query: string): string {
  const found = searchDocs(docs, query);
  const items = found.map(({ page, heading, excerpt }) => {
    const title = heading.depth === 1 ? page.title : `${page.title}: ${heading.title}`;
    return `<li><a href="${page.path}#${heading.id}">${escapeHtml(title)}</a><p>${escapeHtml(excerpt)}</p></li>`;
  });
  const count = found.length === 0 ? 'Nothing has all of these words.' : '';
  return `<article><h1>Search: ${escapeHtml(query)}</h1><p>${count}</p><ol class="found">${items.join('')}</ol></article>`;
}
