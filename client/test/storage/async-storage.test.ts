import { expect, test } from 'vitest';
import { type AsyncStorageLike, asyncStorage } from '../../src/storage/async-storage.ts';
import { testStorageContract } from '../support/storage-contract.ts';

const MAX_ENTRY_BYTES = 1_048_576;

/** React Native's store as Android has it: slow, with a limit for each entry. */
class Phone implements AsyncStorageLike {
  readonly entries = new Map<string, string>();
  /** Writes until the app is killed: then each call fails. */
  writesLeft = Number.POSITIVE_INFINITY;
  /** How many entries fit. */
  room = Number.POSITIVE_INFINITY;

  async getItem(key: string): Promise<string | null> {
    await this.#turn(false);
    return this.entries.get(key) ?? null;
  }

  async setItem(key: string, value: string): Promise<void> {
    await this.#turn(true);
    if (Buffer.byteLength(value) > MAX_ENTRY_BYTES) throw new Error('Row too big');
    if (this.entries.size >= this.room) throw new Error('database or disk is full');
    // The native side stores UTF-8, which has no halves of surrogate pairs.
    this.entries.set(key, String(Buffer.from(value)));
  }

  async removeItem(key: string): Promise<void> {
    await this.#turn(true);
    this.entries.delete(key);
  }

  async getAllKeys(): Promise<readonly string[]> {
    await this.#turn(false);
    return [...this.entries.keys()];
  }

  async #turn(isWrite: boolean): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    if (isWrite) this.writesLeft -= 1;
    if (this.writesLeft < 0) throw new Error('The app was killed');
  }
}

testStorageContract(async () => {
  const phone = new Phone();
  phone.entries.set('of the app itself', 'text');
  return { storage: asyncStorage(phone), reopen: async () => asyncStorage(phone) };
});

test('an app that is killed at any write finds the text from before or the one from after', async () => {
  const long = (letter: string) => letter.repeat(900_000);
  for (const [before, after] of [
    [long('a'), long('b')],
    ['short', long('b')],
    [long('a'), 'short'],
  ] as const) {
    const outcomes = new Set<string>();
    for (let writes = 0; writes < 14; writes += 1) {
      const phone = new Phone();
      await asyncStorage(phone).set('key', before);
      phone.writesLeft = writes;
      const isStored = await asyncStorage(phone)
        .set('key', after)
        .then(
          () => true,
          () => false,
        );
      phone.writesLeft = Number.POSITIVE_INFINITY;
      const found = await asyncStorage(phone).get('key');
      expect(found === (isStored ? after : before)).toBe(true);
      outcomes.add(isStored ? 'after' : 'before');
    }
    expect(outcomes).toEqual(new Set(['before', 'after']));
  }
});

test('what a write that was cut off left behind is removed by the next one', async () => {
  const phone = new Phone();
  const storage = asyncStorage(phone);
  await storage.set('key', 'a'.repeat(600_000));
  phone.writesLeft = 5;
  await expect(storage.set('key', 'b'.repeat(3_000_000))).rejects.toThrow('killed');
  phone.writesLeft = Number.POSITIVE_INFINITY;
  expect(phone.entries.size).toBeGreaterThan(4);
  await storage.set('key', 'short');
  expect(phone.entries.size).toBe(1);
  await storage.set('key', 'c'.repeat(600_000));
  await storage.delete('key');
  expect(phone.entries.size).toBe(0);
});

test('a store that is full keeps the former text, and nothing of the one that does not fit', async () => {
  const phone = new Phone();
  const storage = asyncStorage(phone);
  for (const former of [null, 'a'.repeat(600_000)]) {
    if (former !== null) await storage.set('key', former);
    const before = [...phone.entries.keys()];
    phone.room = before.length + 3;
    await expect(storage.set('key', 'b'.repeat(3_000_000))).rejects.toThrow('full');
    phone.room = Number.POSITIVE_INFINITY;
    expect([...phone.entries.keys()]).toEqual(before);
    expect(await storage.get('key')).toBe(former);
  }
});

test('a text with a part missing, or an entry that is none of its own, rejects until it is written again', async () => {
  const phone = new Phone();
  const storage = asyncStorage(phone);
  for (const damage of ['missing part', 'rubbish entry']) {
    await storage.set('key', 'a'.repeat(600_000));
    const part = [...phone.entries.keys()].find((key) => key.includes(':part:')) ?? '';
    const entry = [...phone.entries.keys()].find((key) => key.includes(':entry:')) ?? '';
    if (damage === 'missing part') phone.entries.delete(part);
    else phone.entries.set(entry, 'rubbish');
    await expect(storage.get('key')).rejects.toThrow();
    await storage.set('key', 'b'.repeat(600_000));
    expect((await storage.get('key'))?.length).toBe(600_000);
  }
});

test.each([
  ['nothing', undefined, 'getItem'],
  ['a module in place of its default export', { default: {} }, 'getItem'],
  ['the storage of a browser', { getItem() {}, setItem() {}, removeItem() {} }, 'getAllKeys'],
])('%s in place of the storage is an error at once', (_, given, lacking) => {
  const create = () => asyncStorage(given as never);
  expect(create).toThrow(TypeError);
  expect(create).toThrow(`there is no ${lacking}`);
});
