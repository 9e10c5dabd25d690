// Packs `trading-graph-client` from this checkout, and says how an app installs it. Plain JavaScript
// without dependencies, since a fresh clone has neither packages nor the Node that strips types.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const versionOf = (manifest, name) =>
  `--package=${name}@${JSON.parse(readFileSync(join(root, manifest), 'utf8')).devDependencies[name]}`;
const folder = mkdtempSync(join(tmpdir(), 'client-package-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

// It needs nothing but the compiler and the bundler: each declaration is written from its own file, and types are left to
// `npm run check`. What they print is shown only where they fail.
const tools = [
  versionOf('package.json', 'typescript'),
  versionOf('client/package.json', 'rolldown'),
];
run('npx', '--yes', ...tools, 'node', join(root, 'client', 'build.mjs'), folder);
const printed = run('npm', 'pack', folder, '--json', `--pack-destination=${root}`);
const [, name] = /"filename":\s*"([^"]+)"/.exec(printed) ?? [];
if (name === undefined) fail(printed);
const tarball = join(root, name);
console.log(`Packed ${tarball}\nInstall it in your app:\n\n  npm install ${tarball}\n`);

function run(command, ...args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (status !== 0) fail(stdout, stderr, error?.message);
  return stdout;
}

function fail(...texts) {
  process.stderr.write(`${texts.filter(Boolean).join('\n')}\n`);
  console.error('The client could not be packed (npm says why above).');
  process.exit(1);
}
