// "Is my change right?" in some seconds: checks the types, and runs the tests that are nearest to the files that differ from the
// commit, by imports, and those that speak of what its lines speak of, up to the first failure. `npm test -- --changed [commit] [--list]`;
// all others are left to `npm test`.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { LONG_SUITES, SUITES_ALONE, SUITES_OF_THEIR_OWN } from '../test/support/long-suites.ts';

/** So many start and end within the time that somebody waits for. */
const MAX_NEAREST = 5;
const MAX_ALIKE = 5;
const IMPORT = /\b(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g;
/** What it has of others' is near to those who import it by name, not to all who import the face. */
const FACE = 'src/engine/index.ts';
const NAMED = /\b(?:export|import) (?:type )?\{([^}]*)\} from '([^']+)'/g;
/** An import of whichever file of the same folder. */
const SIBLING_IMPORT = /\bimport\(`\.\/\$\{/;

const root = join(import.meta.dirname, '..');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { list: { type: 'boolean', default: false } },
});
const [commit = 'HEAD'] = positionals;
const git = (...args: readonly string[]) =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean);
const changed = [
  ...git('diff', '--name-only', commit),
  ...git('ls-files', '--others', '--exclude-standard'),
].filter((path) => existsSync(join(root, path)));
const files = git('ls-files', '-co', '--exclude-standard', '*.ts', '*.tsx', '*.mjs');
const long = new Set(globSync(LONG_SUITES, { cwd: root }));
const apart = new Set(globSync([...SUITES_OF_THEIR_OWN, ...SUITES_ALONE], { cwd: root }));

const found = ranked(changed);
const closest = found.slice(0, MAX_NEAREST);
const tests = [...closest, ...mostAlike(found.slice(MAX_NEAREST)).slice(0, MAX_ALIKE)];
console.log(
  tests.length > 0 ? tests.join('\n') : `No test is near to what differs from ${commit}.`,
);
if (!values.list) {
  const checks = projectsOf(changed).map((project) =>
    start('node_modules/typescript/bin/tsc', '--noEmit', '-p', project),
  );
  if (tests.length > 0) {
    checks.push(start('node_modules/vitest/vitest.mjs', 'run', '--bail=1', ...tests));
  }
  process.exitCode = await endAtFirstFailure(checks);
}

/**
 * The test files by their distance from a change, those of its own folder first; none that takes long unless it changed itself,
 * and one that has a process of its own in that folder alone.
 */
function ranked(paths: readonly string[]): readonly string[] {
  const importers = new Map<string, string[]>();
  for (const file of files) {
    for (const imported of importsOf(file)) {
      importers.set(imported, [...(importers.get(imported) ?? []), file]);
    }
  }
  const distances = new Map(paths.map((path) => [path, 0]));
  for (const [file, distance] of distances) {
    for (const importer of importers.get(file) ?? []) {
      if (!distances.has(importer)) distances.set(importer, distance + 1);
    }
  }
  const folders = paths.map((path) => dirname(path).replace(/^(client\/)?src\//, '/'));
  const isBeside = (test: string) => folders.some((folder) => dirname(test).endsWith(folder));
  const isSlow = (test: string) => long.has(test) || (apart.has(test) && !isBeside(test));
  const found = [...distances]
    .filter(([file]) => file.endsWith('.test.ts') && (!isSlow(file) || paths.includes(file)))
    .map(([file, distance]) => ({ file, rank: isBeside(file) ? distance / 2 : distance }));
  return found.toSorted((one, other) => one.rank - other.rank).map(({ file }) => file);
}

/**
 * Those that have the words of the changed lines, the most telling first (by BM25): a fault in what the whole service runs is found by the
 * test of that behaviour, to which an import leads from everywhere.
 */
function mostAlike(candidates: readonly string[]): readonly string[] {
  const tests = files.filter((file) => file.endsWith('.test.ts') && existsSync(join(root, file)));
  const texts = new Map(
    tests.map((file) => [file, wordsOf(readFileSync(join(root, file), 'utf8'))]),
  );
  const meanLength = [...texts.values()].reduce((sum, all) => sum + all.length, 0) / texts.size;
  const lines = git('diff', '-U0', commit).filter((line) => /^[-+](?![-+]{2} )/.test(line));
  const asked = new Set([...lines, ...changed.map(nameOf)].flatMap(wordsOf));
  const rarity = new Map(
    [...asked].map((word) => {
      const having = [...texts.values()].filter((all) => all.includes(word)).length;
      return [word, having === 0 ? 0 : Math.log(texts.size / having)];
    }),
  );
  const likeness = (file: string) => {
    const all = texts.get(file) ?? [];
    const length = 0.25 + (0.75 * all.length) / meanLength;
    const named = wordsOf(nameOf(file));
    return [...rarity].reduce((sum, [word, worth]) => {
      const times = all.filter((each) => each === word).length;
      return sum + worth * (times / (times + 1.2 * length) + (named.includes(word) ? 1 : 0));
    }, 0);
  };
  return candidates
    .map((file) => ({ file, score: likeness(file) }))
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score)
    .map(({ file }) => file);
}

function nameOf(path: string): string {
  return basename(path).replace(/(\.test)?\.tsx?$/, '');
}

/** The words of a text and of its names, and each two that a name has beside each other: `maxAge` is rarer than its parts. */
function wordsOf(text: string): readonly string[] {
  const names = text.match(/[A-Za-z]{3,}/g) ?? [];
  return names.flatMap((name) => {
    const parts = name
      .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .split(' ');
    const pairs = parts.slice(1).map((part, at) => `${parts[at]} ${part}`);
    return [...parts.map((part) => part.replace(/s$/, '')), ...pairs];
  });
}

function importsOf(file: string): readonly string[] {
  if (!existsSync(join(root, file))) return [];
  const text = readFileSync(join(root, file), 'utf8');
  const paths = [...text.matchAll(IMPORT)].map(([, path = '']) =>
    relative(root, join(root, dirname(file), path)),
  );
  const named = file === FACE ? [] : paths.flatMap((path) => (path === FACE ? faced(text) : path));
  if (!SIBLING_IMPORT.test(text)) return named;
  return [...named, ...files.filter((other) => dirname(other) === dirname(file))];
}

/** The inner files of which a file imports names by the face; one that the face declares itself is of what it loads on first use. */
function faced(text: string): readonly string[] {
  const face = readFileSync(join(root, FACE), 'utf8');
  const inner = new Map(namesIn(face, ''));
  const loaded = [...face.matchAll(/\bimport\('([^']+)'\)/g)].map(([, path = '']) => path);
  return namesIn(text, FACE)
    .flatMap(([name]) => inner.get(name) ?? loaded)
    .map((path) => join(dirname(FACE), path));
}

/** The names that a text imports or exports, each with the end of its path. */
function namesIn(text: string, end: string): readonly (readonly [name: string, path: string])[] {
  return [...text.matchAll(NAMED)].flatMap(([, list = '', path = '']) =>
    path.endsWith(end)
      ? list.split(',').map((name) => [name.trim().replace(/^type /, ''), path] as const)
      : [],
  );
}

/** The TypeScript projects that check a change. */
function projectsOf(paths: readonly string[]): readonly string[] {
  const own = ['client/test', 'client', 'src/page', 'examples', 'src/graphiql/page'];
  const found = paths
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => own.find((folder) => path.startsWith(`${folder}/`)) ?? '.');
  return [...new Set(found)];
}

function start(script: string, ...args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [script, ...args], { cwd: root, stdio: 'inherit' });
}

/** The first failure is the answer: tests of a change that breaks much wait for minutes in vain. */
async function endAtFirstFailure(checks: readonly ChildProcess[]): Promise<number> {
  const codes = await Promise.all(
    checks.map(async (check) => {
      const [code] = await once(check, 'close');
      if (code !== 0) for (const other of checks) other.kill();
      return code;
    }),
  );
  return codes.every((code) => code === 0) ? 0 : 1;
}
