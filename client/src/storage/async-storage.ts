import type { ClientStorage } from '../storage.ts';

/** The methods of React Native's `@react-native-async-storage/async-storage` that are used. */
export interface AsyncStorageLike {
  getItem(key: string): Promise<string | null>;
  setItem(key: string, value: string): Promise<void>;
  removeItem(key: string): Promise<void>;
  getAllKeys(): Promise<readonly string[]>;
}

const METHODS = ['getItem', 'setItem', 'removeItem', 'getAllKeys'] as const;
const ENTRY = 'trading-graph:entry:';
/** Begins each text, also those of earlier versions. */
const MARK = '=';

/** Keeps texts in React Native's AsyncStorage. Throws a TypeError for any other object. */
export function asyncStorage(storage: AsyncStorageLike): ClientStorage {
  const given = Object(storage) as Partial<AsyncStorageLike>;
  const lacking = METHODS.find((name) => typeof given[name] !== 'function');
  if (lacking !== undefined) {
    const wanted = 'pass the default export of @react-native-async-storage/async-storage';
    throw new TypeError(`asyncStorage(storage): there is no ${lacking}; ${wanted}.`);
  }
  return {
    async get(key) {
      const entry = await storage.getItem(ENTRY + key);
      return entry?.startsWith(MARK) ? entry.slice(MARK.length) : entry;
    },
    set: (key, text) => storage.setItem(ENTRY + key, MARK + text),
    delete: (key) => storage.removeItem(ENTRY + key),
    async keys(prefix) {
      const stored = await storage.getAllKeys();
      return stored
        .filter((key) => key.startsWith(ENTRY + prefix))
        .map((key) => key.slice(ENTRY.length));
    },
  };
}
