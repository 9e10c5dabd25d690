import type { Log } from '../../../../lib/log.ts';
import type { VersionStore } from '../../../store/shared-store.ts';
import type { CatalogVersion } from '../catalog-version.ts';
import { type CatalogChanges, changesTo } from './history.ts';

// The format of a version; no other client input may become part of a key.
const VERSION = /^[\w-]{22}$/;

/** Stores the digests of each version of a group: equal content has the same name on every replica. */
export function createVersionArchive(store: VersionStore, group: string, log: Pick<Log, 'warn'>) {
  const keyOf = (version: string) => JSON.stringify([group, version]);
  return {
    /** Never rejects: without the archive a client only fetches more. */
    async remember({ version, digests }: CatalogVersion): Promise<void> {
      try {
        await store.put(keyOf(version), JSON.stringify([...digests]));
      } catch (err) {
        log.warn({ err, group }, 'a catalog version could not be shared');
      }
    },
    /** Null where the archive does not have the version. */
    async changes(since: string, to: CatalogVersion): Promise<CatalogChanges | null> {
      if (!VERSION.test(since)) return null;
      try {
        const text = await store.get(keyOf(since));
        if (text === null) return null;
        const before = new Map<string, string | null>(JSON.parse(text));
        for (const id of to.byId.keys()) if (!before.has(id)) before.set(id, null);
        return changesTo(to, before);
      } catch (err) {
        log.warn({ err, group }, 'a shared catalog version could not be read');
        return null;
      }
    },
  };
}
