// Makes the package in a folder: `node build.mjs <folder> [path of tsc] [path of rolldown's command]`. ES modules, CommonJS for
// Jest and Metro, and a file for each entry, by which those find it that read no `exports` (Metro before 0.82). A manifest in a
// folder of their own would hide `exports` from those that read them: Metro from 0.82 on looks at the nearest one, and would pack
// both formats of the client. Plain JavaScript, since a fresh clone has nothing but the two tools.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const sources = dirname(fileURLToPath(import.meta.url));
const [folder = '', tsc, rolldown] = process.argv.slice(2);
const { scripts: _, devDependencies: __, ...manifest } = JSON.parse(read('package.json'));
const entries = Object.entries(manifest.exports).filter(([, target]) => target.import);
const [esm, cjs] = [join(resolve(folder), 'dist'), join(resolve(folder), 'dist', 'cjs')];

rmSync(esm, { recursive: true, force: true });
run('tsc', tsc, '-p', sources, '--noCheck', '--emitDeclarationOnly', '--outDir', esm);
keepDeclarations();
run('rolldown', rolldown, '--config', join(sources, 'rolldown.config.mjs'));
writeFileSync(join(cjs, 'package.json'), '{"type":"commonjs"}\n');
writeVectors();

for (const [entry, { require: target }] of entries) {
  if (entry === '.') continue;
  writeFileSync(join(folder, `${entry}.js`), `module.exports = require('${target.default}');\n`);
}
// TypeScript before its resolution of `exports` goes by this.
const versions = entries.map(([entry, { require: target }]) => [entry.slice(2), [target.types]]);
const typesVersions = { '*': Object.fromEntries(versions.slice(1)) };
const packed = JSON.stringify({ ...manifest, typesVersions }, null, 2);
writeFileSync(join(folder, 'package.json'), `${packed}\n`);
for (const file of ['LICENSE', 'trusted-documents.json'])
  copyFileSync(join(sources, file), join(folder, file));
// The pages beside it are not in the package.
writeFileSync(
  join(folder, 'README.md'),
  read('README.md').replace(/\[([^\]]*)\]\(\.\.\/[^)]*\)/g, '$1'),
);

function run(name, path, ...args) {
  const [command, ...own] = path === undefined ? [name] : [process.execPath, path];
  const env = { ...process.env, PACKAGE_FOLDER: resolve(folder) };
  const stdio = ['ignore', 'ignore', 'inherit'];
  const { status, error } = spawnSync(command, [...own, ...args], { env, stdio });
  if (error) throw error;
  if (status !== 0) process.exit(1);
}

/** Keeps those that an app's types need, for both formats. */
function keepDeclarations() {
  const needed = new Map();
  const need = (file) => {
    if (needed.has(file)) return;
    const text = readFileSync(join(esm, 'client', 'src', file), 'utf8').replace(
      /(["']\.[^"']*)\.ts(["'])/g,
      '$1.js$2',
    );
    needed.set(file, text);
    for (const [, path] of text.matchAll(/["'](\.[^"']*)\.js["']/g))
      need(join(dirname(file), `${path}.d.ts`));
  };
  for (const [entry, target] of entries)
    if (entry !== './vectors') need(target.import.types.replace('./dist/', ''));
  rmSync(esm, { recursive: true });
  for (const [file, text] of needed) {
    for (const format of [esm, cjs]) {
      mkdirSync(dirname(join(format, file)), { recursive: true });
      writeFileSync(join(format, file), text);
    }
  }
}

/** The vectors as a module, because not every bundler and runtime imports JSON in the same way. */
function writeVectors() {
  const files = readdirSync(join(sources, 'vectors')).filter((file) => file.endsWith('.json'));
  const families = files.map((file) => JSON.stringify(JSON.parse(read('vectors', file))));
  const declaration = `/** One case: the rule that it shows, and what is given and expected step by step. */
export interface Case { readonly name: string; readonly rule: string; readonly steps: readonly object[] }
/** What a client in any language has to do, by families of cases. */
export declare const vectors: readonly { readonly family: string; readonly cases: readonly Case[] }[];
`;
  for (const [format, begin] of [
    [esm, 'export const vectors ='],
    [cjs, 'exports.vectors ='],
  ]) {
    writeFileSync(join(format, 'vectors.js'), `${begin} [${families}];\n`);
    writeFileSync(join(format, 'vectors.d.ts'), declaration);
  }
}

function read(...path) {
  return readFileSync(join(sources, ...path), 'utf8');
}
