import type { ClientStorage } from '../storage.ts';
import { KeyQueue } from './key-queue.ts';

/** The methods that are used of React Native's `@react-native-async-storage/async-storage`. */
export interface AsyncStorageLike {
  getItem(key: string): Promise<string | null>;
  setItem(key: string, value: string): Promise<void>;
  removeItem(key: string): Promise<void>;
  getAllKeys(): Promise<readonly string[]>;
}

/** Where a text is: in its entry, or in parts. */
type Manifest = { readonly text: string } | InParts;
type InParts = { readonly generation: Generation; readonly count: number; readonly length: number };
type Generation = 'a' | 'b';

const METHODS = ['getItem', 'setItem', 'removeItem', 'getAllKeys'] as const;
const ENTRY = 'trading-graph:entry:';
const PART = 'trading-graph:part:';
// Android reads at most 2 MB of an entry, and UTF-8 takes up to three bytes for each of these.
const PART_LENGTH = 262_144;

/**
 * Keeps texts in React Native's AsyncStorage. A long one is kept in parts, and its entry, which names the parts, is
 * written when all of them are: after a crash there is the text from before or the one from after. Throws a TypeError
 * where it is no such storage.
 */
export function asyncStorage(storage: AsyncStorageLike): ClientStorage {
  const given = Object(storage) as Partial<AsyncStorageLike>;
  const lacking = METHODS.find((name) => typeof given[name] !== 'function');
  if (lacking !== undefined) {
    const wanted = 'pass the default export of @react-native-async-storage/async-storage';
    throw new TypeError(`asyncStorage(storage): there is no ${lacking}; ${wanted}.`);
  }
  const queue = new KeyQueue();

  async function readManifest(key: string): Promise<Manifest | null> {
    const entry = await storage.getItem(ENTRY + key);
    return entry === null ? null : toManifest(entry);
  }

  async function read(key: string): Promise<string | null> {
    const manifest = await readManifest(key);
    if (manifest === null) return null;
    if ('text' in manifest) return manifest.text;
    const parts = await Promise.all(partKeys(key, manifest).map((part) => storage.getItem(part)));
    const text = parts.join('');
    if (parts.includes(null) || text.length !== manifest.length) {
      throw new Error('A part of the stored text is missing.');
    }
    return text;
  }

  async function write(key: string, text: string): Promise<void> {
    if (text.length <= PART_LENGTH) {
      await storage.setItem(ENTRY + key, `=${text}`);
    } else {
      // The parts of the present text stay as they are until the entry names the new ones.
      const former = await readManifest(key).catch(() => null);
      const generation =
        former !== null && 'generation' in former && former.generation === 'a' ? 'b' : 'a';
      const parts = split(text);
      for (const [at, part] of parts.entries()) {
        await storage.setItem(partKey(key, generation, at), part);
      }
      await storage.setItem(ENTRY + key, `#${generation}:${parts.length}:${text.length}`);
    }
  }

  /** Removes the parts that the entry does not name: a former text's, and those of a write that was cut off. */
  async function sweep(key: string): Promise<void> {
    const parts = (await storage.getAllKeys()).filter((stored) => isPartOf(stored, key));
    if (parts.length === 0) return;
    const manifest = await readManifest(key);
    const named = manifest !== null && 'count' in manifest ? partKeys(key, manifest) : [];
    for (const part of parts) {
      if (!named.includes(part)) await storage.removeItem(part);
    }
  }

  return {
    get: (key) => queue.run(key, () => read(key)),
    set: (key, text) =>
      queue.run(key, async () => {
        try {
          await write(key, text);
        } finally {
          // Where the store is full the parts that fitted are of no use. What cannot be removed is removed by the next write.
          await sweep(key).catch(() => {});
        }
      }),
    delete: (key) =>
      queue.run(key, async () => {
        await storage.removeItem(ENTRY + key);
        await sweep(key).catch(() => {});
      }),
    async keys(prefix) {
      const stored = await storage.getAllKeys();
      return stored
        .filter((key) => key.startsWith(ENTRY + prefix))
        .map((key) => key.slice(ENTRY.length));
    },
  };
}

function toManifest(entry: string): Manifest {
  if (entry.startsWith('=')) return { text: entry.slice(1) };
  const [, generation, count, length] = /^#([ab]):(\d+):(\d+)$/.exec(entry) ?? [];
  if (generation !== 'a' && generation !== 'b') throw new Error('The stored entry is damaged.');
  return { generation, count: Number(count), length: Number(length) };
}

function partKey(key: string, generation: Generation, at: number): string {
  return `${PART}${generation}:${at}:${key}`;
}

function partKeys(key: string, { generation, count }: InParts): string[] {
  return Array.from({ length: count }, (_none, at) => partKey(key, generation, at));
}

function isPartOf(stored: string, key: string): boolean {
  if (!stored.startsWith(PART)) return false;
  const [, own] = /^[ab]:\d+:(.*)$/s.exec(stored.slice(PART.length)) ?? [];
  return own === key;
}

function split(text: string): string[] {
  const parts: string[] = [];
  let from = 0;
  while (from < text.length) {
    let to = Math.min(text.length, from + PART_LENGTH);
    // The halves of a surrogate pair are no characters, and would not survive being stored apart.
    if (to < text.length && isHighSurrogate(text.charCodeAt(to - 1))) to -= 1;
    parts.push(text.slice(from, to));
    from = to;
  }
  return parts;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
