import type { ClientStorage } from '../../src/storage.ts';

export type StorageStep = keyof ClientStorage;

export interface MemoryStorage extends ClientStorage {
  readonly entries: Map<string, string>;
  /** Steps that fail, or never end. */
  readonly failing: Set<StorageStep>;
  readonly hanging: Set<StorageStep>;
}

/** A device's storage, which outlives the clients of a test. */
export function createMemoryStorage(): MemoryStorage {
  const entries = new Map<string, string>();
  const failing = new Set<StorageStep>();
  const hanging = new Set<StorageStep>();
  const step = async <T>(name: StorageStep, run: () => T): Promise<T> => {
    await new Promise((resolve) => setImmediate(resolve));
    if (hanging.has(name)) return new Promise(() => {});
    if (failing.has(name)) throw new Error(`${name} fails`);
    return run();
  };
  return {
    entries,
    failing,
    hanging,
    get: (key) => step('get', () => entries.get(key) ?? null),
    set: (key, text) => step('set', () => void entries.set(key, text)),
    delete: (key) => step('delete', () => void entries.delete(key)),
    keys: (prefix) =>
      step('keys', () => [...entries.keys()].filter((key) => key.startsWith(prefix))),
  };
}
