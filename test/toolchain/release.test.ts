import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ownFolder } from '../support/own-folder.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = ownFolder();
const SCHEMA = 'type Query { session: Int, customerId: Int }';
const EMPTY = '# Changelog\n\n## Unreleased\n';

/** A project with a changelog, a schema and a version, on the branch main of its own repository. */
function project() {
  const path = (name: string) => join(folder.path, name);
  const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.com'];
  const git = (...args: readonly string[]) =>
    execFileSync('git', [...identity, ...args], { cwd: folder.path, encoding: 'utf8' }).trim();
  const write = (files: Readonly<Record<string, string>>) => {
    for (const [name, text] of Object.entries(files)) writeFileSync(path(name), text);
    git('add', '--all');
    git('commit', '--quiet', '--message', 'a change');
  };
  const release = (version: string) => {
    const env = {
      ...process.env,
      GIT_AUTHOR_NAME: 't',
      GIT_AUTHOR_EMAIL: 't@example.com',
      GIT_COMMITTER_NAME: 't',
      GIT_COMMITTER_EMAIL: 't@example.com',
    };
    const script = join(root, 'scripts', 'release.ts');
    const options = { cwd: folder.path, encoding: 'utf8', env } as const;
    return spawnSync(process.execPath, [script, version], options);
  };
  const read = (name: string) => readFileSync(path(name), 'utf8');
  const note = (line: string) =>
    write({ 'CHANGELOG.md': read('CHANGELOG.md').replace(EMPTY, `${EMPTY}\n- ${line}\n`) });
  git('init', '--quiet', '--initial-branch=main');
  write({
    'package.json': '{ "version": "0.0.0", "scripts": { "verify": "test ! -e broken" } }',
    'package-lock.json': '{ "version": "0.0.0", "packages": { "": { "version": "0.0.0" } } }',
    'schema.graphql': SCHEMA,
    'CHANGELOG.md': EMPTY,
    // The scripts of package.json set a compile cache in this folder for all their processes.
    '.gitignore': 'node_modules\n',
  });
  const refuses = (version: string, problem: string) => {
    const head = git('rev-parse', 'HEAD');
    const { status, stderr } = release(version);
    expect(status).toBe(1);
    expect(stderr).toContain(`No release: ${problem}`);
    expect(git('rev-parse', 'HEAD')).toBe(head);
  };
  return { path, git, write, note, read, release, refuses };
}

test('a release has its version, the date of its section and its tag', () => {
  const { git, note, read, release, refuses } = project();
  refuses('0.1.0', 'the changelog has nothing');
  note('The first version.');
  const { status, stdout } = release('0.1.0');
  expect([status, stdout]).toEqual([0, expect.stringContaining('git push origin main v0.1.0')]);
  const day = new Date().toISOString().slice(0, 10);
  expect(read('CHANGELOG.md')).toBe(`${EMPTY}\n## 0.1.0, ${day}\n\n- The first version.\n`);
  const lock = JSON.parse(read('package-lock.json'));
  const versions = [JSON.parse(read('package.json')), lock, lock.packages['']];
  expect(versions.map(({ version }) => version)).toEqual(['0.1.0', '0.1.0', '0.1.0']);
  expect(git('describe', '--exact-match')).toBe('v0.1.0');
  expect(git('status', '--porcelain')).toBe('');
  refuses('0.2.0', 'the changelog has nothing');
});

test('a release that breaks clients names in the changelog what it breaks, and has a large enough version', () => {
  const { write, note, release, refuses } = project();
  note('The first version.');
  release('0.1.0');
  note('Fewer fields.');
  // A new field breaks no document.
  write({ 'schema.graphql': 'type Query { session: Int, balance: Int }' });
  refuses('0.2.0', 'no line "Breaking: …" of the changelog names what this breaks since v0.1.0');
  note('Breaking: `Query.session` is gone.');
  refuses('0.2.0', 'no line "Breaking: …"');
  note('Breaking: `Query.customerId` is gone.');
  refuses('0.1.1', 'the changelog has breaking changes');
  expect(release('0.2.0').status).toBe(0);
  note('A repair.');
  expect(release('0.2.1').status).toBe(0);
});

test('a release is of a clean main whose checks pass, after the last one', () => {
  const { path, git, write, note, release, refuses } = project();
  note('The first version.');
  refuses('1.0', '"1.0" is no version');
  git('switch', '--quiet', '--create', 'a-branch');
  refuses('1.0.0', 'the branch is "a-branch"');
  git('switch', '--quiet', 'main');
  appendFileSync(path('CHANGELOG.md'), 'more');
  refuses('1.0.0', 'there are changes that are not committed');
  git('restore', '.');
  write({ broken: '' });
  refuses('1.0.0', 'npm run verify fails');
  git('rm', '--quiet', 'broken');
  git('commit', '--quiet', '--message', 'a repair');
  expect(release('1.0.0').status).toBe(0);
  note('More.');
  refuses('0.9.0', '0.9.0 is not after v1.0.0');
  refuses('1.0.0', '1.0.0 is not after v1.0.0');
});

test('the version of the project and of its parts stands in package.json alone', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const exact = `v?${version.replaceAll('.', '[.]')}\\b`;
  const named = `(trading-graph[a-z-]*[-:@]|[vV]ersion>?['"]?[=: ]*['"]?|newTag: )${exact}`;
  const derived = [':!package.json', ':!package-lock.json', ':!CHANGELOG.md'];
  const others = [':!*/package-lock.json', ':!src/graphiql'];
  const args = ['grep', '-IEn', named, '--', ...derived, ...others];
  expect(spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout).toBe('');
});
