import type { ClientStorage } from '../../src/storage.ts';

export type StorageStep = keyof ClientStorage;

export interface MemoryStorage extends ClientStorage {
  readonly entries: Map<string, string>;
  /** Steps that fail, or never end. */
  readonly failing: Set<StorageStep>;
  readonly hanging: Set<StorageStep>;
  /** Called before and after each step. The step waits for the promises that these functions return. */
  before: StorageHook;
  after: StorageHook;
}

export type StorageHook = (step: StorageStep, key: string) => void | Promise<void>;

/** A device's storage, which outlives the clients of a test. */
export function createMemoryStorage(): MemoryStorage {
  const entries = new Map<string, string>();
  const failing = new Set<StorageStep>();
  const hanging = new Set<StorageStep>();
  const step = async <T>(name: StorageStep, key: string, run: () => T): Promise<T> => {
    await new Promise((resolve) => setImmediate(resolve));
    await storage.before(name, key);
    if (hanging.has(name)) return new Promise(() => {});
    if (failing.has(name)) throw new Error(`${name} fails`);
    const value = run();
    await storage.after(name, key);
    return value;
  };
  const storage: MemoryStorage = {
    entries,
    failing,
    hanging,
    before() {},
    after() {},
    get: (key) => step('get', key, () => entries.get(key) ?? null),
    set: (key, text) => step('set', key, () => void entries.set(key, text)),
    delete: (key) => step('delete', key, () => void entries.delete(key)),
    keys: (prefix) =>
      step('keys', prefix, () => [...entries.keys()].filter((key) => key.startsWith(prefix))),
  };
  return storage;
}
