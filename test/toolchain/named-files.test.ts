import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { LONGEST } from '../support/long-suites.ts';

const root = join(import.meta.dirname, '..', '..');
const PAGES = globSync(
  ['*.md', '{docs,src}/**/*.md', '{bench,client,kotlin}/*.md', '{deploy,examples}/**/*.md'],
  { cwd: root, exclude: ['**/node_modules/**'] },
).sort();
const CODE = globSync(
  '{src,test,bench,scripts,client/{src,test},deploy,examples}/**/*.{ts,js,mjs,yml,yaml,cfg}',
  // Excludes the packages of `npm run bench -- peers`.
  { cwd: root, exclude: ['**/node_modules/**'] },
).sort();

const { scripts }: { scripts: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
);

/** The project's files and folders in a page's code, from the root: `src/app.ts`, `test/lib/`. */
function namedFiles(text: string): string[] {
  const folders = 'src|test|docs|bench|scripts|\\.ci';
  const files = new RegExp(`\`((?:${folders})/[\\w./*-]*)\``, 'g');
  return [...text.matchAll(files)].map(([, path = '']) => path);
}

/** The targets of links, from the page's own folder, except links within the page and out of the project. */
function linkedFiles(text: string): string[] {
  const targets = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, path = '']) => path);
  return targets.filter((target) => !/^[a-z]+:/.test(target));
}

/** The links to headings, with the page of each heading. */
function linkedHeadings(page: string, text: string): { target: string; anchor: string }[] {
  const links = [...text.matchAll(/\]\(([^)#\s:]*)#([^)\s]+)\)/g)];
  return links.map(([, path, anchor = '']) => ({
    target: path ? join(dirname(page), path) : page,
    anchor,
  }));
}

/** The anchors of a page's headings, by the rules of GitHub and the site. */
function anchorsOf(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8').replace(/^```[\s\S]*?^```/gm, '');
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));
}

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

function isThere(path: string): boolean {
  return path.includes('*')
    ? globSync(path, { cwd: root }).length > 0
    : existsSync(join(root, path));
}

test('the suites that start first exist', () => {
  expect(LONGEST.filter((name) => !isThere(`${name}.test.ts`))).toEqual([]);
});

test.each(PAGES)('%s names and links to existing files and headings only', (page) => {
  const text = readFileSync(join(root, page), 'utf8');
  // Client guides also name files of the reader's app.
  const isClients = /^(docs\/clients\.md|examples\/|client\/|kotlin\/)/.test(page);
  const named = isClients ? [] : namedFiles(text);
  expect({
    files: named.filter((path) => !isThere(path)),
    links: linkedFiles(text).filter((path) => !isThere(join(dirname(page), path))),
    headings: linkedHeadings(page, text).filter(
      ({ target, anchor }) => target.endsWith('.md') && !anchorsOf(target).includes(anchor),
    ),
  }).toEqual({ files: [], links: [], headings: [] });
});

test('pages name only existing commands', () => {
  const named = PAGES.flatMap((page) => {
    const text = readFileSync(join(root, page), 'utf8');
    const commands = text.matchAll(/(?:`|^|npx )trading-graph ([a-z]+)/gm);
    return [...commands].map(([, command = '']) => ({ page, command }));
  });
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter(({ command }) => !Object.hasOwn(COMMANDS, command))).toEqual([]);
  // Other pages name commands of the reader's app too.
  const npm = ['README.md', 'CONTRIBUTING.md'].flatMap((page) => {
    const text = readFileSync(join(root, page), 'utf8');
    return [...text.matchAll(/\bnpm (?:run ([\w:-]+)|(start|test))/g)];
  });
  expect(npm.length).toBeGreaterThan(10);
  expect(npm.filter(([, run, short]) => !Object.hasOwn(scripts, run ?? short ?? ''))).toEqual([]);
});

test('code names only existing pages and headings', () => {
  const named = CODE.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    const links = text.matchAll(/(?<![\w/])(docs\/[\w/-]+\.md)(?:#([\w-]+))?/g);
    return [...links].map(([, page = '', anchor]) => ({ file, page, anchor }));
  });
  expect(named.length).toBeGreaterThan(50);
  const broken = named.filter(
    ({ page, anchor }) =>
      !isThere(page) || (anchor !== undefined && !anchorsOf(page).includes(anchor)),
  );
  expect(broken).toEqual([]);
});

test('every npm script first installs packages if needed, and is then replaced by its program', () => {
  // These scripts need no package.
  const { 'pack:client': _pack, audit: _audit, ...others } = scripts;
  // These scripts need no packages of tests.
  const ofService = ['start', 'dev', 'sandbox', 'check'];
  const wrong = Object.entries(others).filter(([name, script]) => {
    const packages = ofService.includes(name) ? '' : ' all';
    const begin = `node scripts/setup.mjs${packages} && `;
    const rest = script.slice(begin.length);
    return !script.startsWith(begin) || !/^(NODE_COMPILE_CACHE=\S+ )?exec node \S+/.test(rest);
  });
  expect(wrong).toEqual([]);
});
