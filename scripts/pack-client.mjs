// Packs `trading-graph-client` from this checkout, and prints how an app installs it. Plain JavaScript without
// dependencies, because a fresh clone has neither packages nor a Node that strips types.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'client-package-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const toolsIn = join(folder, 'tools');
const packed = join(folder, 'package');

// Packing needs only the compiler and the bundler, which npm installs by the lock file with its digests. Each declaration
// is written from its own file, and `npm run verify` checks the types. The tools' output is shown only if they fail.
mkdirSync(toolsIn);
mkdirSync(packed);
writeLock(['typescript', 'rolldown']);
run('npm', 'ci', '--ignore-scripts', `--prefix=${toolsIn}`);
const [tsc, rolldown] = ['typescript/bin/tsc', 'rolldown/bin/cli.mjs'];
const paths = [tsc, rolldown].map((path) => join(toolsIn, 'node_modules', path));
run('node', join(root, 'client', 'build.mjs'), packed, ...paths);
const printed = run('npm', 'pack', packed, '--json', `--pack-destination=${root}`);
const [, name] = /"filename":\s*"([^"]+)"/.exec(printed) ?? [];
if (name === undefined) fail(printed);
// Without the version in its name, so that commands and examples need not name it.
const tarball = join(root, 'trading-graph-client.tgz');
renameSync(join(root, name), tarball);
console.log(`Packed ${tarball}\nInstall it in your app:\n\n  npm install ${tarball}\n`);

/** The part of the lock file with these packages and their dependencies. */
function writeLock(names) {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const packages = {};
  const add = (name) => {
    const path = `node_modules/${name}`;
    const { dev: _, ...entry } = lock.packages[path] ?? fail(`The lock file lacks ${name}.`);
    if (packages[path] !== undefined) return;
    packages[path] = entry;
    for (const needed of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies }))
      add(needed);
  };
  for (const name of names) add(name);
  const versions = names.map((name) => [name, packages[`node_modules/${name}`].version]);
  const manifest = { name: 'tools', version: '0.0.0', dependencies: Object.fromEntries(versions) };
  const write = (file, value) => writeFileSync(join(toolsIn, file), JSON.stringify(value));
  write('package.json', manifest);
  write('package-lock.json', { ...lock, ...manifest, packages: { '': manifest, ...packages } });
}

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
