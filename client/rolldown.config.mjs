import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const { exports } = JSON.parse(readFileSync(join(import.meta.dirname, 'package.json'), 'utf8'));
const files = Object.entries(exports)
  .filter(([entry, target]) => target.import && entry !== './vectors')
  .map(([, target]) => target.import.default.replace(/^\.\/dist\/|\.js$/g, ''));
const dist = join(process.env.PACKAGE_FOLDER, 'dist');

/** Each entry by itself, and what several need in files beside them, so that each costs an app only itself. */
export default [
  ['esm', dist],
  ['cjs', join(dist, 'cjs')],
].map(([format, dir]) => ({
  input: Object.fromEntries(files.map((file) => [file, join('src', `${file}.ts`)])),
  cwd: import.meta.dirname,
  platform: 'neutral',
  external: /^[^./]/,
  // It warns that `use client` may be lost, which its test reads.
  logLevel: 'silent',
  transform: { target: 'es2022' },
  output: {
    dir,
    format,
    entryFileNames: '[name].js',
    chunkFileNames: 'shared/[name].js',
    sourcemap: true,
  },
}));
