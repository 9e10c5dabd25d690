// Makes the package in a folder: `node build.mjs <folder> [path of tsc] [path of rolldown's command]`. The package has ES
// modules, CommonJS for Jest and Metro, and a file such as `react.js` per entry: tools that do not read `exports`, such as
// Metro before 0.82, find an entry by its file. An entry is no folder with a `package.json` of its own: Metro from 0.82 on
// reads only the nearest `package.json`, would miss `exports`, and would pack both formats of the client.
// This is plain JavaScript, because a fresh clone has nothing but `tsc` and `rolldown`.
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
// For TypeScript that does not read `exports`: older versions, and newer ones with `moduleResolution: node10`.
const versions = entries.map(([entry, { require: target }]) => [entry.slice(2), [target.types]]);
const typesVersions = { '*': Object.fromEntries(versions.slice(1)) };
const { version } = JSON.parse(read('..', 'package.json'));
// npm links a package's provenance to its repository, so a release names it.
const url = process.env.REPOSITORY_URL;
const repository = url ? { type: 'git', url, directory: 'client' } : undefined;
const name = process.env.PACKAGE_NAME || manifest.name;
const packed = JSON.stringify({ ...manifest, name, version, repository, typesVersions }, null, 2);
writeFileSync(join(folder, 'package.json'), `${packed}\n`);
for (const file of ['LICENSE', 'schema.json', 'texts.json', 'trusted-documents.json'])
  copyFileSync(join(sources, file), join(folder, file));
// Links to the repository's other pages lose their targets, because the package does not have those pages.
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

/** Of the declaration files that tsc wrote, keeps those that an app's types need, and copies them for both formats. */
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
