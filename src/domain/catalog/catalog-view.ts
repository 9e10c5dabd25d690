import type { CatalogCopy, GroupCatalog } from './cache/group-catalog.ts';

export type CatalogView = Readonly<ReturnType<typeof viewOf>>;

/**
 * A group's catalog as one reader got it; a refresh does not change it. `isStale` also where the copy is young, as with a
 * proof that is kept past its age.
 */
export function viewOf(catalog: GroupCatalog, copy: CatalogCopy, nowMs: number, isStale: boolean) {
  const { version, skipped, unknownValues } = copy;
  const stale = isStale || nowMs >= copy.staleFromMs;
  return {
    ...{ group: catalog.group, key: catalog.key, version, skipped, unknownValues, stale },
    ageSeconds: wholeSeconds(copy.initialAgeMs + nowMs - copy.sentAtMs),
    /** TTL for an answer made of this view; 0 for a stale one. */
    freshSeconds: stale ? 0 : wholeSeconds(copy.expiresMs - nowMs),
    fetchedAt: new Date(copy.sentAtMs),
    expiresAt: new Date(copy.expiresMs),
    /** The difference from a version the client has. */
    changes: (since: string) => catalog.changes(since, version),
  };
}

function wholeSeconds(ms: number): number {
  return Math.max(0, Math.floor(ms / 1000));
}
