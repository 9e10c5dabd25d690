import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { fingerprint } from '../../graphiql/fingerprint.ts';
import { bundlePage, PACKED } from '../../page/bundle.ts';

test('the page is packed from what stands in page/ and client/; else run `npm run docs`', async () => {
  const packed = brotliDecompressSync(readFileSync(PACKED)).toString();
  expect(packed === (await bundlePage())).toBe(true);
});

test('the files of GraphiQL are made from what stands in graphiql/; else run `npm run docs -- graphiql`', () => {
  const made = join(import.meta.dirname, '..', '..', 'graphiql', 'bundle', 'made-from.txt');
  expect(readFileSync(made, 'utf8').trim()).toBe(fingerprint());
});
