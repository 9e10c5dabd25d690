import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { ResponseCache } from '../../src/engine/catalog/response-cache.ts';
import { createRandom } from '../../src/sandbox/random.ts';
import { heldBytes } from '../support/heap.ts';

const MEGABYTE = 1024 * 1024;

/** A text that does not compress. */
function noise(bytes: number, seed = 'noise'): Buffer {
  const random = createRandom(seed);
  return Buffer.from(Array.from({ length: bytes }, () => Math.floor(random() * 256)));
}

describe('a cached answer', () => {
  test('stays within the bound with all others, the packed ones included', async () => {
    const held = new ResponseCache(MEGABYTE);
    for (let i = 0; i < 40; i += 1) {
      const bytes = noise(60_000, `answer ${i}`);
      held.hold(`key ${i}`, { etag: 'tag', plain: bytes });
      await held.packed(`key ${i}`, bytes, 'br');
      await held.packed(`key ${i}`, bytes, 'gzip');
      expect(held.heldBytes).toBeLessThanOrEqual(MEGABYTE);
    }
    expect(held.heldBytes).toBeGreaterThan(MEGABYTE / 2);
    expect(held.get('key 0')).toBeUndefined();
    expect(held.get('key 39')?.plain).toEqual(noise(60_000, 'answer 39'));
  });

  test('counts the memory it takes, even when it consists of many small parts', async () => {
    const before = heldBytes();
    const held = new ResponseCache(8 * MEGABYTE);
    for (let i = 0; i < 60_000; i += 1) {
      // Each is cut out of a larger block, as texts of this size are.
      const bytes = Buffer.from(`{"data":{"instrument":{"id":"${i}"}}}`);
      held.hold(String(i), { etag: 'tag', plain: bytes });
      if (i % 60 === 0) await held.packed(String(i), bytes, 'gzip');
    }
    expect(heldBytes() - before).toBeLessThan(1.5 * 8 * MEGABYTE);
    expect(held.heldBytes).toBeGreaterThan(7 * MEGABYTE);
  });

  test('that is larger than the whole cache is known by its tag alone', () => {
    const held = new ResponseCache(1_700);
    held.hold('small', { etag: 'tag', plain: Buffer.alloc(100) });
    held.hold('large', { etag: 'its tag', plain: Buffer.alloc(1_701) });
    expect(held.get('large')).toEqual({ etag: 'its tag', plain: null });
    expect(held.get('small')?.plain).toHaveLength(100);
  });
});

describe('a compressed answer', () => {
  test('without a cached plain answer has no tag', async () => {
    const held = new ResponseCache();
    await held.packed('key', Buffer.alloc(5_000, 'abc'), 'gzip');
    expect(held.get('key')).toBeUndefined();
  });

  test('is made once for concurrent requests', async () => {
    const held = new ResponseCache();
    const bytes = Buffer.alloc(200_000, 'abc');
    const all = await Promise.all([1, 2, 3].map(() => held.packed('key', bytes, 'br')));
    expect(all[1]).toBe(all[0]);
    expect(all[2]).toBe(all[0]);
    expect(brotliDecompressSync(all[0] as Buffer)).toEqual(bytes);
  });

  test('is cached beside its other encodings', async () => {
    const held = new ResponseCache();
    const bytes = Buffer.alloc(200_000, 'abc');
    const gzipped = await held.packed('key', bytes, 'gzip');
    expect(gunzipSync(gzipped)).toEqual(bytes);
    expect(await held.packed('key', bytes, 'br')).not.toEqual(gzipped);
    expect(held.packed('key', bytes, 'gzip')).toEqual(gzipped);
  });

  test('takes the place of the plain one where there is no room for both', async () => {
    const held = new ResponseCache(10_000);
    const bytes = Buffer.concat([Buffer.alloc(8_500, 'abc'), noise(500)]);
    held.hold('key', { etag: 'tag', plain: bytes });
    const packed = await held.packed('key', bytes, 'gzip');
    expect(held.get('key')).toEqual({ etag: 'tag', plain: null });
    expect(held.packed('key', bytes, 'gzip')).toBe(packed);
  });

  test('is served even where there is no room to cache it', async () => {
    const held = new ResponseCache(10);
    const bytes = Buffer.alloc(5_000, 'abc');
    expect(gunzipSync(await held.packed('key', bytes, 'gzip'))).toEqual(bytes);
    expect(held.heldBytes).toBe(0);
  });
});
