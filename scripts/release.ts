// Makes a release of a clean main branch: `npm run release -- 1.2.0` sets the version, dates the changelog's section, commits
// and tags. It pushes nothing. docs/releasing.md has the rest.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { buildSchema } from 'graphql';
import { breakingLines, sectionOf, UNRELEASED, withRelease } from './release/changelog.ts';
import { compareSchemas } from './release/compare-schemas.ts';
import { git, lastRelease } from './release/git.ts';

type Version = readonly [major: number, minor: number, patch: number];

const [text = ''] = process.argv.slice(2);
const version = parse(text) ?? refuse(`"${text}" is no version such as 1.2.0`);
const tag = `v${text}`;
const last = lastRelease();
const changelog = readFileSync('CHANGELOG.md', 'utf8');
const section = sectionOf(changelog, UNRELEASED);

const branch = git('branch', '--show-current');
if (branch !== 'main') refuse(`the branch is "${branch}", not main`);
if (git('status', '--porcelain') !== '') refuse('there are changes that are not committed');
if (section === '') refuse(`the changelog has nothing under "${UNRELEASED}"`);
const lastVersion = parse(last?.slice(1) ?? '');
if (lastVersion !== null) checkStep(lastVersion, version);
if (last !== null) checkSchema(last);
const { status } = spawnSync('npm', ['run', 'verify', '--silent'], { stdio: 'inherit' });
if (status !== 0) refuse('npm run verify fails');

const day = new Date().toISOString().slice(0, 10);
writeFileSync('CHANGELOG.md', withRelease(changelog, text, day));
setVersion('package.json');
setVersion('package-lock.json');
git(
  'commit',
  '--quiet',
  '--message',
  `Release ${text}`,
  'CHANGELOG.md',
  'package.json',
  'package-lock.json',
);
git('tag', '--annotate', tag, '--message', `Trading Graph ${text}`);
console.log(`${tag} is tagged. To publish it: git push origin main ${tag}`);

function parse(value: string): Version | null {
  const [, major, minor, patch] = /^(\d+)\.(\d+)\.(\d+)$/.exec(value) ?? [];
  return patch === undefined ? null : [Number(major), Number(minor), Number(patch)];
}

/** Refuses a version that is not higher than the last one, and a breaking change in a version that promises none. */
function checkStep(before: Version, after: Version): void {
  const step = after.findIndex((number, at) => number !== before[at]);
  if (step < 0 || (after[step] ?? 0) < (before[step] ?? 0)) refuse(`${text} is not after ${last}`);
  // Before 1.0.0 a minor version may break.
  const breakingStep = before[0] === 0 ? 1 : 0;
  if (step > breakingStep && breakingLines(section).length > 0) {
    refuse(`the changelog has breaking changes: ${text} is too small a step after ${last}`);
  }
}

/** Refuses breaking changes of the schema that the changelog does not name. */
function checkSchema(since: string): void {
  const before = buildSchema(git('show', `${since}:schema.graphql`));
  const now = buildSchema(readFileSync('schema.graphql', 'utf8'));
  const changes = compareSchemas(before, now, breakingLines(section));
  const unnamed = changes.filter(({ kind }) => kind === 'breaking');
  if (unnamed.length === 0) return;
  const list = unnamed.map(({ description }) => `\n  ${description}`).join('');
  refuse(`no line "Breaking: …" of the changelog names what this breaks since ${since}:${list}`);
}

/** Sets the version at the top of a file, and that of the project itself in the lock file. */
function setVersion(path: string): void {
  const file = JSON.parse(readFileSync(path, 'utf8'));
  file.version = text;
  const own = file.packages?.[''];
  if (own !== undefined) own.version = text;
  writeFileSync(path, `${JSON.stringify(file, null, 2)}\n`);
}

function refuse(problem: string): never {
  console.error(`No release: ${problem}`);
  process.exit(1);
}
