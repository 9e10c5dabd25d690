import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { bundlePage, PACKED } from '../../page/bundle.ts';

test('the page is packed from what stands in page/ and client/; else run `npm run docs`', async () => {
  const packed = brotliDecompressSync(readFileSync(PACKED)).toString();
  expect(packed === (await bundlePage())).toBe(true);
});
