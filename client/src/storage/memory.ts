import type { ClientStorage } from '../storage.ts';

/** Keeps texts as long as the object lives: for tests, and for rendering on a server. */
export function memoryStorage(): ClientStorage {
  const texts = new Map<string, string>();
  return {
    async get(key) {
      return texts.get(key) ?? null;
    },
    async set(key, text) {
      texts.set(key, text);
    },
    async delete(key) {
      texts.delete(key);
    },
    async keys(prefix) {
      return [...texts.keys()].filter((key) => key.startsWith(prefix));
    },
  };
}
