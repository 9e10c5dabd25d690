// Gives everything of a release its version: `npm run release -- 0.2.0`. It writes files, publishes nothing, and says what
// to run next.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const VERSION = /^\d+\.\d+\.\d+$/;
/** The places beside package.json in which a version stands for this project's own. */
const NAMED =
  /((?:trading-graph(?:-client|-sandbox)?[-:]|newTag: |image\.version="))(\d+\.\d+\.\d+)/g;
const TEXTS = ['Dockerfile', 'client/README.md', 'docs', 'deploy', 'examples'];

const root = join(import.meta.dirname, '..');
const [version = ''] = process.argv.slice(2);
const changed: string[] = [];

const former: string = JSON.parse(read('package.json')).version;
if (!VERSION.test(version)) fail(`usage: npm run release -- <version>, and this is ${former}`);
if (version.localeCompare(former, 'en', { numeric: true }) < 0)
  fail(`${version} is before ${former}, which package.json has`);
if (git('status', '--porcelain') !== '') fail('there are changes that are not committed');
if (git('tag', '--list', `v${version}`) !== '') fail(`there is a tag v${version}`);

const today = new Date().toISOString().slice(0, 10);
write('CHANGELOG.md', withHeading(read('CHANGELOG.md')));
for (const path of ['package.json', 'client/package.json']) {
  write(path, read(path).replace(/"version": "[^"]+"/, `"version": "${version}"`));
}
const lock = JSON.parse(read('package-lock.json'));
for (const entry of [lock, lock.packages[''], lock.packages.client]) entry.version = version;
write('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`);
const texts = git('ls-files', ...TEXTS).split('\n');
for (const path of texts.filter((each) => /(?:Dockerfile|\.(?:md|ya?ml|json))$/.test(each))) {
  write(
    path,
    read(path).replace(NAMED, (all, before: string, found: string) =>
      found === former ? before + version : all,
    ),
  );
}
console.log(`${version} is in ${changed.length} files:\n  ${changed.join('\n  ')}

Look at them (git diff), then:

  .ci/run --long && git commit -am "Release ${version}" && git tag v${version}
  npm run bundle -- package    # the server's npm package
  npm run pack:client          # the client's
  docker build --build-arg REVISION="$(git rev-parse HEAD)" -t trading-graph:${version} .

Nothing was published.`);

/** Dates what waits for a release; where nothing does, the version has a section that says so. */
function withHeading(changelog: string): string {
  const heading = `## ${version}, ${today}`;
  const own = new RegExp(`^## (?:Not released yet|${version.replaceAll('.', '\\.')}, .*)$`, 'm');
  if (own.test(changelog)) return changelog.replace(own, heading);
  const before = `\n## ${former}, `;
  if (!changelog.includes(before))
    fail(`CHANGELOG.md has neither "## Not released yet" nor a section of ${former}`);
  const section = `${heading}\n\nNothing that users of the API or operators notice.\n`;
  return changelog.replace(before, `\n${section}${before}`);
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

function write(path: string, text: string): void {
  if (text === read(path)) return;
  writeFileSync(join(root, path), text);
  changed.push(path);
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
