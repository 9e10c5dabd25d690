import type { CatalogCopy, GroupCatalog } from './cache/group-catalog.ts';
import type { CatalogChanges } from './sync/history.ts';

/** A group's catalog as one reader got it; a refresh does not change it. */
export type CatalogView = Readonly<ReturnType<typeof viewOf>>;

/** `isStale` also where the copy is young, as with a proof that is kept past its age. */
export function viewOf(catalog: GroupCatalog, copy: CatalogCopy, nowMs: number, isStale: boolean) {
  const { group, history, archive } = catalog;
  const { version, skipped, unknownValues, sentAtMs, expiresMs } = copy;
  const stale = isStale || nowMs >= copy.staleFromMs;
  return {
    ...{ group, version, skipped, unknownValues, stale },
    ageSeconds: wholeSeconds(copy.initialAgeMs + nowMs - sentAtMs),
    /** TTL for an answer made of this view; 0 for a stale one. */
    freshSeconds: stale ? 0 : wholeSeconds(expiresMs - nowMs),
    fetchedAtMs: sentAtMs,
    fetchedAt: new Date(sentAtMs),
    expiresAt: new Date(expiresMs),
    /** The difference from a version the client has; everything where that version is unknown. */
    changes(since: string): CatalogChanges | Promise<CatalogChanges> {
      const present = { version: version.version, removed: [] };
      if (since === present.version) return { ...present, reset: false, upserted: [] };
      const known = history.changes(since, version);
      if (known) return known;
      const everything = { ...present, reset: true, upserted: version.instruments };
      if (archive === null) return everything;
      return archive.changes(group, since, version).then((changes) => changes ?? everything);
    },
  };
}

function wholeSeconds(ms: number): number {
  return Math.max(0, Math.floor(ms / 1000));
}
