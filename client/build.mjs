// Builds the package: ES modules, CommonJS for Jest and Metro, and a file for each entry, by which those find it that
// read no `exports` (Metro before 0.82). A folder with a manifest would hide `exports` from those that read them: Metro from
// 0.82 on looks at the nearest one, and would pack both formats of the client. Plain JavaScript, since a fresh clone has nothing but the compiler.
// `node build.mjs [folder of the package] [path of tsc]`
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
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

const dist = join(folder, 'dist');
rmSync(dist, { recursive: true, force: true });
compile(dist);
const cjs = join(dist, 'cjs');
compile(cjs, '--module', 'commonjs', '--verbatimModuleSyntax', 'false');
writeFileSync(join(cjs, 'package.json'), '{"type":"commonjs"}\n');

// The vectors as a module, because not every bundler and runtime imports JSON in the same way.
const files = readdirSync(join(sources, 'vectors')).filter((file) => file.endsWith('.json'));
const families = files.map((file) => readFileSync(join(sources, 'vectors', file), 'utf8'));
const declaration = `/** One case: the rule that it shows, and what is given and expected step by step. */
export interface Case { readonly name: string; readonly rule: string; readonly steps: readonly object[] }
/** What a client in any language has to do, by families of cases. */
export declare const vectors: readonly { readonly family: string; readonly cases: readonly Case[] }[];
`;
for (const [format, begin] of [
  [dist, 'export const vectors ='],
  [cjs, 'exports.vectors ='],
]) {
  writeFileSync(join(format, 'vectors.js'), `${begin} [${families}];\n`);
  writeFileSync(join(format, 'vectors.d.ts'), declaration);
}

for (const [entry, target] of Object.entries(exports)) {
  if (entry === '.' || typeof target === 'string') continue;
  const { default: file } = target.require;
  writeFileSync(join(folder, `${entry}.js`), `module.exports = require('${file}');\n`);
  writeFileSync(join(folder, `${entry}.d.ts`), `export * from '${file}';\n`);
}
