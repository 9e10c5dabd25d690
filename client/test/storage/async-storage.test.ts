import { expect, test } from 'vitest';
import { type AsyncStorageLike, asyncStorage } from '../../src/storage/async-storage.ts';
import { testStorageContract } from '../support/storage-contract.ts';

/** React Native's storage, which answers in a later turn of the event loop. */
class PhoneStorage implements AsyncStorageLike {
  readonly entries = new Map<string, string>();
  /** The maximum number of entries. */
  room = Number.POSITIVE_INFINITY;

  async getItem(key: string): Promise<string | null> {
    await turn();
    return this.entries.get(key) ?? null;
  }

  async setItem(key: string, value: string): Promise<void> {
    await turn();
    if (this.entries.size >= this.room) throw new Error('database or disk is full');
    this.entries.set(key, value);
  }

  async removeItem(key: string): Promise<void> {
    await turn();
    this.entries.delete(key);
  }

  async getAllKeys(): Promise<readonly string[]> {
    await turn();
    return [...this.entries.keys()];
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

testStorageContract(async () => {
  const phone = new PhoneStorage();
  phone.entries.set('of the app itself', 'text');
  return { storage: asyncStorage(phone), reopen: async () => asyncStorage(phone) };
});

test('a store that is full rejects, and keeps what it has', async () => {
  const phone = new PhoneStorage();
  const storage = asyncStorage(phone);
  await storage.set('key', 'before');
  phone.room = 1;
  await expect(storage.set('other', 'text')).rejects.toThrow('full');
  expect(await storage.get('key')).toBe('before');
});

test('a module that is no store is refused at once', () => {
  const module = { default: new PhoneStorage() } as unknown as AsyncStorageLike;
  expect(() => asyncStorage(module)).toThrow('pass the default export');
});
