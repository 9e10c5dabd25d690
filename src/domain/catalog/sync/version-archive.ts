import type { Log } from '../../../../lib/log.ts';
import type { CatalogVersion } from '../catalog-version.ts';
import { type CatalogChanges, changesTo } from './history.ts';

/**
 * Stores catalog contents for all replicas, so that each can compute the changes since a version that only
 * another one has served. Keys consist of text that this process has made.
 */
export interface VersionStore {
  put(key: string, text: string): Promise<void>;
  get(key: string): Promise<string | null>;
}

// The format of a version; no other client input may become part of a key.
const VERSION = /^[\w-]{22}$/;

/** Stores each version's digests: equal content has the same name on every replica. */
export class VersionArchive {
  readonly #store: VersionStore;
  readonly #log: Pick<Log, 'warn'>;

  constructor(store: VersionStore, log: Pick<Log, 'warn'>) {
    this.#store = store;
    this.#log = log;
  }

  /** Never rejects: without the archive a client only fetches more. */
  async remember(group: string, version: CatalogVersion): Promise<void> {
    try {
      const text = JSON.stringify([...version.digests]);
      await this.#store.put(keyOf(group, version.version), text);
    } catch (err) {
      this.#log.warn({ err, group }, 'a catalog version could not be shared');
    }
  }

  /** Null where the archive does not have the version. */
  async changes(group: string, since: string, to: CatalogVersion): Promise<CatalogChanges | null> {
    if (!VERSION.test(since)) return null;
    try {
      const text = await this.#store.get(keyOf(group, since));
      return text === null ? null : difference(JSON.parse(text), to);
    } catch (err) {
      this.#log.warn({ err, group }, 'a shared catalog version could not be read');
      return null;
    }
  }
}

function keyOf(group: string, version: string): string {
  return JSON.stringify([group, version]);
}

function difference(digests: [string, string][], to: CatalogVersion): CatalogChanges {
  const before = new Map<string, string | null>(digests);
  for (const id of to.byId.keys()) if (!before.has(id)) before.set(id, null);
  return changesTo(to, before);
}
