import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { fingerprint } from '../../src/graphiql/fingerprint.ts';
import { bundlePage, PACKED } from '../../src/page/bundle.ts';

test('the page is built from src/page/ and client/; otherwise run `npm run docs`', async () => {
  const packed = brotliDecompressSync(readFileSync(PACKED)).toString();
  expect(packed === (await bundlePage())).toBe(true);
});

test('the files of GraphiQL are built from src/graphiql/; otherwise run `npm run docs -- graphiql`', () => {
  const made = join(import.meta.dirname, '..', '..', 'src', 'graphiql', 'bundle', 'made-from.txt');
  expect(readFileSync(made, 'utf8').trim()).toBe(fingerprint());
});
