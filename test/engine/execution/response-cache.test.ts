import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { ResponseCache } from '../../../src/engine/execution/response-cache.ts';
import { isNamed } from '../../../src/engine/transports/http/send-result.ts';
import { createRandom } from '../../../src/sandbox/random.ts';
import { heldBytes } from '../../support/heap.ts';

const MEGABYTE = 1024 * 1024;

const cacheOf = (maxBytes: number) => new ResponseCache(maxBytes);

/** Bytes that cannot be compressed. */
function noise(bytes: number, seed = 'noise'): Buffer {
  const random = createRandom(seed);
  return Buffer.from(Array.from({ length: bytes }, () => Math.floor(random() * 256)));
}

describe('the cache', () => {
  test('never exceeds its size, compressed answers included', async () => {
    const cache = cacheOf(MEGABYTE);
    for (let i = 0; i < 40; i += 1) {
      const bytes = noise(60_000, `answer ${i}`);
      cache.set(`key ${i}`, 'tag', bytes);
      await cache.packed(`key ${i}`, bytes, 'br');
      await cache.packed(`key ${i}`, bytes, 'gzip');
      expect(cache.byteSize).toBeLessThanOrEqual(MEGABYTE);
    }
    expect(cache.byteSize).toBeGreaterThan(MEGABYTE / 2);
    expect(cache.get('key 0')).toBeUndefined();
    expect(cache.get('key 39')?.plain).toEqual(noise(60_000, 'answer 39'));
  });

  test('counts the memory that it takes, even with many small answers', async () => {
    const before = heldBytes();
    const cache = cacheOf(8 * MEGABYTE);
    for (let i = 0; i < 60_000; i += 1) {
      // Each is a slice of a larger block, as Node allocates small buffers.
      const bytes = Buffer.from(`{"data":{"instrument":{"id":"${i}"}}}`);
      cache.set(String(i), 'tag', bytes);
      if (i % 60 === 0) await cache.packed(String(i), bytes, 'gzip');
    }
    expect(heldBytes() - before).toBeLessThan(1.5 * 8 * MEGABYTE);
    expect(cache.byteSize).toBeGreaterThan(7 * MEGABYTE);
  });
});

test('an answer is compressed once per encoding for concurrent requests, and cached only with its plain form', async () => {
  const cache = cacheOf(MEGABYTE);
  const bytes = Buffer.alloc(200_000, 'abc');
  cache.set('key', 'tag', bytes);
  const all = await Promise.all([1, 2, 3].map(() => cache.packed('key', bytes, 'br')));
  expect(all[1]).toBe(all[0]);
  expect(all[2]).toBe(all[0]);
  expect(brotliDecompressSync(all[0] as Buffer)).toEqual(bytes);
  const gzipped = await cache.packed('key', bytes, 'gzip');
  expect(gunzipSync(gzipped)).toEqual(bytes);
  expect(cache.packed('key', bytes, 'br')).toEqual(all[0]);
  expect(cache.packed('key', bytes, 'gzip')).toEqual(gzipped);
  expect(gunzipSync(await cache.packed('another', bytes, 'gzip'))).toEqual(bytes);
  expect(cache.get('another')).toBeUndefined();
});

test.each([
  [undefined, false],
  ['W/"a"', true],
  ['W/"b", W/"a"', true],
  ['*', true],
  ['W/"b"', false],
])('If-None-Match: %s matches W/"a": %s', (given, named) => {
  expect(isNamed(given, 'W/"a"')).toBe(named);
});
