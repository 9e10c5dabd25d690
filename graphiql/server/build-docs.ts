import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onFirstUse } from '../../lib/on-first-use.ts';
import { loadDocs } from './docs-pages.ts';
import { resultsHtml, searchOf, sectionsOf } from './docs-search.ts';
import { article, shell } from './docs-shell.ts';

const SOURCES = join(import.meta.dirname, '..', 'docs');
const SCRIPT = 'text/javascript; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';

export interface Asset {
  readonly type: string;
  readonly text: string;
}

/** The site, whether a service answers from it or it is written into a folder. */
export interface BuiltDocs {
  readonly paths: readonly string[];
  /** The HTML of the page with this path, if there is one. */
  page(path: string): string | null;
  search(query: string): Promise<string>;
  /** The style, the scripts and what the search in the browser is made of, by their paths. */
  readonly assets: ReadonlyMap<string, Asset>;
  /** Other files that pages link to, by their paths in the site. */
  readonly files: ReadonlyMap<string, string>;
}

interface BuildOptions {
  readonly hasService: boolean;
  /** Pages that are made by the service, as Markdown, by the files that they would be. */
  readonly made: ReadonlyMap<string, string>;
}

export async function buildDocs(
  folder: string,
  { hasService, made }: BuildOptions,
): Promise<BuiltDocs> {
  const docs = await loadDocs(folder, made);
  const sections = sectionsOf(docs.pages.values());
  const sources: readonly [name: string, Asset][] = [
    ['style.css', { type: 'text/css; charset=utf-8', text: await source('style.css') }],
    ['site.js', { type: SCRIPT, text: await source('site.js') }],
    ['search.js', { type: SCRIPT, text: await source('search.js') }],
    ['minisearch.js', { type: SCRIPT, text: await readFile(libraryPath(), 'utf8') }],
    ['sections.json', { type: JSON_TYPE, text: JSON.stringify(sections) }],
  ];
  const content = sources.map(([, { text }]) => text).join('\0');
  const assets = `/docs/${hash('sha256', content, 'hex').slice(0, 16)}`;
  const around = { docs, assets, hasService };
  const front = docs.pages.get('/docs');
  if (front === undefined) throw new Error('docs/README.md is missing');
  const search = onFirstUse(() => searchOf(sections));
  return {
    paths: [...docs.pages.keys()],
    page(path) {
      const page = docs.pages.get(path);
      return page === undefined ? null : shell({ ...around, page, main: article(page, docs) });
    },
    async search(query) {
      const found = (await search())(query);
      return shell({ ...around, page: front, query, main: resultsHtml(query, found) });
    },
    assets: new Map(sources.map(([name, asset]) => [`${assets}/${name}`, asset])),
    files: docs.files,
  };
}

function source(name: string): Promise<string> {
  return readFile(join(SOURCES, name), 'utf8');
}

/** The search library as the browser loads it: beside the sources in a bundle, else as it is installed. */
function libraryPath(): string {
  const beside = join(SOURCES, 'minisearch.js');
  return existsSync(beside) ? beside : fileURLToPath(import.meta.resolve('minisearch'));
}
