import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import type { StaticFile } from './pages.ts';

export type Assets = Awaited<ReturnType<typeof loadAssets>>;

interface File {
  readonly name: string;
  readonly bytes: Buffer;
  readonly br: Buffer;
}

const SOURCES = join(import.meta.dirname, '..');
const BUNDLE_FOLDER = join(SOURCES, 'bundle');

const unpackBrotli = promisify(brotliDecompress);

/** Reads the page's HTML, and the bundled files by their URL paths. */
export async function loadAssets() {
  const [html, files] = await Promise.all([
    readFile(join(SOURCES, 'page', 'index.html'), 'utf8'),
    readBundle().then(published),
  ]);
  return { html, files };
}

/** Reads the files that `npm run docs -- graphiql` has made and compressed, so that no request waits for compression. */
async function readBundle(): Promise<File[]> {
  const names = (await readdir(BUNDLE_FOLDER)).filter((name) => name.endsWith('.br'));
  return Promise.all(
    names.map(async (name) => {
      const br = await readFile(join(BUNDLE_FOLDER, name));
      return { name: name.replace(/\.br$/, ''), bytes: await unpackBrotli(br), br };
    }),
  );
}

/** The files in one folder, because they import each other by relative paths. Its name is a hash, so browsers keep them. */
function published(files: readonly File[]): Map<string, StaticFile> {
  const content = Buffer.concat(files.map(({ bytes }) => bytes));
  const folder = `/graphiql/${hash('sha256', content, 'hex').slice(0, 16)}`;
  const entries = files.map(({ name, bytes, br }): [string, StaticFile] => {
    const type = name.endsWith('.js') ? 'text/javascript' : 'text/css';
    return [`${folder}/${name}`, { type: `${type}; charset=utf-8`, bytes, br }];
  });
  return new Map(entries);
}
