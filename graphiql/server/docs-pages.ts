import { execFile } from 'node:child_process';
import { existsSync, globSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { promisify } from 'node:util';
import { type Rendered, renderMarkdown } from './markdown.ts';

export interface DocsPage extends Rendered {
  /** From the root of the project: `docs/live.md`. */
  readonly file: string;
  /** In the site: `/docs/live`. */
  readonly path: string;
}

export interface Reader {
  readonly who: string;
  readonly pages: readonly DocsPage[];
}

export interface Docs {
  readonly pages: ReadonlyMap<string, DocsPage>;
  readonly readers: readonly Reader[];
  /** Other files that pages link to, by their paths in the site. */
  readonly files: ReadonlyMap<string, string>;
  /** The day on which a file was changed last, as far as it is known. */
  readonly changed: ReadonlyMap<string, string>;
}

const PAGES = ['docs/**/*.md', '{client,engine,bench}/*.md', '{deploy,examples}/*/README.md'];
const ALSO = ['CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'];

/** The navigation: pages by who reads them. All others are a link away. */
const READERS: Readonly<Record<string, string>> = {
  'Build a front end':
    'clients clients/ten-minutes clients/react clients/apollo clients/urql clients/relay clients/frameworks clients/server clients/react-native clients/native clients/push clients/cookies client client-api schema catalog live orders errors trusted-documents sandbox limits-of-use',
  'Extend it':
    'consuming extensions supergraph plugins CONTRIBUTING architecture recipes decisions dependencies bench',
  'Operate it':
    'adopt configuration check operations runbook metrics traces order-records gateway limits security scale CHANGELOG',
};

/** The path of a page in the site: `docs/clients/README.md` is `/docs/clients`, `client/README.md` `/docs/client`. */
export function sitePath(file: string): string {
  return posix.join('/docs', file.replace(/^docs\//, '').replace(/(^|\/)README\.md$|\.md$/, ''));
}

export function hasDocs(folder: string): boolean {
  return existsSync(join(folder, 'docs', 'README.md'));
}

/** Reads and renders all pages, and those that are made while the service runs, by the files that they would be. Only what is found here, or is linked by it, is ever served: no path of a request becomes one of a file. */
export async function loadDocs(
  folder: string,
  made: ReadonlyMap<string, string> = new Map(),
): Promise<Docs> {
  const names = [
    ...globSync(PAGES, { cwd: folder }),
    ...ALSO.filter((file) => existsSync(join(folder, file))),
  ];
  const read = names.map(
    async (file) => [file, await readFile(join(folder, file), 'utf8')] as const,
  );
  const texts = new Map([...(await Promise.all(read)), ...made]);
  const files = new Map<string, string>();
  const linkFrom = (file: string) => (href: string) => {
    if (/^[a-z]+:/.test(href) || /^[#/]/.test(href)) return { href };
    const [path = '', anchor] = href.split('#');
    const target = join(dirname(file), path).replace(/\/$/, '');
    const page = [target, `${target}/README.md`].find((each) => texts.has(each));
    if (page !== undefined) {
      const place = anchor === undefined ? '' : `#${anchor}`;
      return { href: `${sitePath(page)}${place}`, title: titleOf(texts.get(page) ?? '') };
    }
    if (target.startsWith('..') || !isFile(join(folder, target))) return null;
    files.set(`/docs/files/${target}`, join(folder, target));
    return { href: `/docs/files/${target}` };
  };
  const pages = new Map<string, DocsPage>();
  // One after the other: together their turns would be one.
  for (const [file, text] of texts) {
    const path = sitePath(file);
    pages.set(path, { file, path, ...(await renderMarkdown(text, linkFrom(file))) });
  }
  const readers = Object.entries(READERS).map(([who, listed]) => ({
    who,
    pages: listed.split(' ').flatMap((name) => pages.get(`/docs/${name}`) ?? []),
  }));
  return { pages, readers, files, changed: await lastChanges(folder) };
}

/** The file that a bundle has in place of a history. */
export const LAST_CHANGES = 'last-changes.json';

/** Git tells it in a checkout; an installation without either shows no day. */
async function lastChanges(folder: string): Promise<ReadonlyMap<string, string>> {
  const written = join(folder, LAST_CHANGES);
  if (existsSync(written)) return new Map(JSON.parse(await readFile(written, 'utf8')));
  const changed = new Map<string, string>();
  const command = ['log', '--max-count=2000', '--format=%x00%cs', '--name-only', '--', '*.md'];
  const log = await promisify(execFile)('git', command, { cwd: folder, maxBuffer: 2 ** 25 }).then(
    ({ stdout }) => stdout,
    () => '',
  );
  for (const commit of log.split('\0').slice(1)) {
    const [day = '', ...files] = commit.split('\n').filter(Boolean);
    for (const file of files) if (!changed.has(file)) changed.set(file, day);
  }
  return changed;
}

function titleOf(text: string): string {
  return (/^# (.+)$/m.exec(text)?.[1] ?? '').replaceAll('`', '');
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
