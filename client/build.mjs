// Builds the package: ES modules, CommonJS for Jest and Metro, and a folder for each entry, by which those find it that
// read no `exports` (Metro before 0.82). Plain JavaScript, since a fresh clone has nothing but the compiler.
// `node build.mjs [folder of the package] [path of tsc]`
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const sources = dirname(fileURLToPath(import.meta.url));
const folder = resolve(process.argv[2] ?? sources);
const compiler = process.argv[3] === undefined ? ['tsc'] : [process.execPath, process.argv[3]];
const { exports } = JSON.parse(readFileSync(join(sources, 'package.json'), 'utf8'));

function compile(outDir, ...options) {
  const [command, ...args] = [...compiler, '-p', sources, '--noCheck', '--outDir', outDir];
  const { status } = spawnSync(command, [...args, ...options], { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}

function writeManifest(path, manifest) {
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'package.json'), `${JSON.stringify(manifest)}\n`);
}

const dist = join(folder, 'dist');
rmSync(dist, { recursive: true, force: true });
compile(dist);
const cjs = join(dist, 'cjs');
compile(cjs, '--module', 'commonjs', '--verbatimModuleSyntax', 'false');
writeManifest(cjs, { type: 'commonjs' });
for (const [entry, target] of Object.entries(exports)) {
  if (entry === '.' || typeof target === 'string') continue;
  const own = join(folder, entry);
  const from = (path) => relative(own, join(folder, path));
  const { import: esm, require: common } = target;
  writeManifest(own, {
    main: from(common.default),
    module: from(esm.default),
    types: from(esm.types),
  });
}
