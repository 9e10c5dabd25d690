import { expect, test } from 'vitest';
import type { ClientStorage } from '../../src/storage.ts';

export interface StorageUnderTest {
  readonly storage: ClientStorage;
  /** Another adapter with the same data, as after a restart of the app; null if the adapter keeps nothing. */
  readonly reopen: (() => Promise<ClientStorage>) | null;
}

const KEYS = [
  '',
  'plain',
  'Plain',
  '../../outside',
  'a/b\\c:d*e?f"g<h>i|j',
  'nul.txt',
  'trailing.',
  'line\nbreak',
  '100%',
  '%31',
  'Größe',
  'e\u0301',
  '\u00e9',
  '🚀',
  'long '.repeat(400),
  `${'long '.repeat(400)}!`,
];

/** The tests that every storage adapter must pass. */
export function testStorageContract(open: () => Promise<StorageUnderTest>): void {
  test('a text is found under its key alone, replaced by longer and shorter texts, and deleted', async () => {
    const { storage } = await open();
    expect(await storage.get('key')).toBeNull();
    for (const text of ['short', 'x'.repeat(3_000), 'y'.repeat(1_000), 'second']) {
      await storage.set('key', text);
      expect((await storage.get('key')) === text).toBe(true);
      expect(await storage.keys('')).toEqual(['key']);
    }
    expect(await storage.get('other')).toBeNull();
    await storage.delete('key');
    expect(await storage.get('key')).toBeNull();
    expect(await storage.keys('')).toEqual([]);
    await storage.delete('key');
  });

  test('different keys have different entries', async () => {
    const { storage, reopen } = await open();
    for (const [at, key] of KEYS.entries()) await storage.set(key, `text ${at}`);
    const again = (await reopen?.()) ?? storage;
    for (const [at, key] of KEYS.entries()) expect(await again.get(key)).toBe(`text ${at}`);
    expect((await again.keys('')).toSorted()).toEqual(KEYS.toSorted());
  });

  test('keys are listed by their beginning', async () => {
    const { storage } = await open();
    for (const key of ['a', 'b', 'b:', 'b:1', 'b:2', 'B:3', 'c']) await storage.set(key, key);
    expect((await storage.keys('b:')).toSorted()).toEqual(['b:', 'b:1', 'b:2']);
    expect(await storage.keys('b:%')).toEqual([]);
    await storage.delete('b:1');
    expect((await storage.keys('b:')).toSorted()).toEqual(['b:', 'b:2']);
  });

  test('any text comes back as it was', async () => {
    const { storage, reopen } = await open();
    const texts = ['', ' ', '\n\n', 'null', '=', '#a:1:1', `é🚀\u0000`, '🚀'.repeat(700)];
    for (const [at, text] of texts.entries()) await storage.set(`text ${at}`, text);
    const again = (await reopen?.()) ?? storage;
    for (const [at, text] of texts.entries()) {
      const stored = await again.get(`text ${at}`);
      expect(stored?.length).toBe(text.length);
      expect(stored === text).toBe(true);
    }
    expect((await again.keys('')).length).toBe(texts.length);
  });

  test('the last of several concurrent writes stays, and a concurrent reader sees one of the texts', async () => {
    const { storage } = await open();
    const texts = ['a'.repeat(2_000), 'b', 'c'.repeat(1_000), 'd'];
    await storage.set('key', 'before');
    const seen: Promise<string | null>[] = [];
    const writes = texts.map((text) => {
      const writing = storage.set('key', text);
      seen.push(storage.get('key'));
      return writing;
    });
    await Promise.all([...writes, storage.set('other', 'x'), storage.delete('other')]);
    expect(await storage.get('key')).toBe('d');
    expect(await storage.get('other')).toBeNull();
    for (const text of await Promise.all(seen)) {
      expect(['before', ...texts].includes(text ?? '')).toBe(true);
    }
  });
}
