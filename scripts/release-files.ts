// Makes the files of a release: `npm run release:files -- <folder>`. On a tag it fails if the tag is not that of the version.
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempDisposableSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { writeBundle } from './image/bundle.ts';
import { sectionOf, UNRELEASED } from './release/changelog.ts';
import { readBom } from './release/read-bom.ts';

const root = join(import.meta.dirname, '..');
const target = resolve(process.argv[2] ?? 'release');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
// GitHub sets this variable to the branch's or the tag's name.
const tag = process.env.GITHUB_REF_TYPE === 'tag' ? process.env.GITHUB_REF_NAME : undefined;
if (tag !== undefined && tag !== `v${version}`) {
  throw new Error(`the tag is ${tag}, but the version is ${version}`);
}

mkdirSync(target, { recursive: true });
const into = (name: string) => join(target, name);
copyFileSync(join(root, 'schema.graphql'), into('schema.graphql'));
copyFileSync(join(root, 'docs', 'openapi.json'), into('openapi.json'));
writeFileSync(into('sbom.cdx.json'), `${JSON.stringify(readBom(root), null, 2)}\n`);
const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
// A rehearsal without a release shows what the next one has.
const notes = sectionOf(changelog, `## ${version}`) || sectionOf(changelog, UNRELEASED);
writeFileSync(into('notes.md'), `${notes}\n`);
run('npm', 'run', '--silent', 'pack:client');
copyFileSync(join(root, 'trading-graph-client.tgz'), into('trading-graph-client.tgz'));
await packBundle(`trading-graph-${version}`);

/** Packs the program as the image has it, which runs by `node dist/main.js` with the Node of the image. */
async function packBundle(name: string): Promise<void> {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'release-'));
  await writeBundle({ project: root, target: join(folder.path, name, 'dist') });
  run('tar', '-czf', into(`${name}.tar.gz`), '-C', folder.path, name);
}

function run(command: string, ...args: readonly string[]): void {
  execFileSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
}
