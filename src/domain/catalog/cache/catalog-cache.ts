import { LRUCache } from 'lru-cache';
import { fireAndForget } from '../../../../lib/fire-and-forget.ts';
import { isGatewayError, UnsafePathError } from '../../../gateway/errors.ts';
import { TooManyAttemptsError, UnauthenticatedError } from '../../auth/errors.ts';
import { detached, groupKey, inBackground, type Viewer } from '../../auth/viewer.ts';
import type { CatalogsOptions } from '../catalogs-options.ts';
import { createGroupCatalog, type GroupCatalog } from './group-catalog.ts';

/** A call of op 1, with its caller and purpose: no reader waits for a `refresh`, and a `proof` has to be a 200, not a 304. */
interface CatalogFetch {
  readonly viewer: Viewer;
  readonly group: string;
  readonly purpose: 'read' | 'proof' | 'refresh';
}

const MAX_GROUPS = 100;

export type CatalogCache = ReturnType<typeof createCatalogCache>;

/**
 * The groups' catalogs. An entry is stale from the moment of its refresh on; how long a stale one is served its
 * `GroupCatalog` says. Claims leave no entry: a catalog is kept once the gateway has served it to a client.
 */
export function createCatalogCache(options: CatalogsOptions) {
  const { gateway, maxBytes, onFetched, clock } = options;
  /** The hash of the token of each call in flight, by its group's key. */
  const calls = new Map<string, string>();
  const catalogs = new LRUCache<string, GroupCatalog, CatalogFetch>({
    max: MAX_GROUPS,
    maxSize: maxBytes,
    // The size is capped, because a newest catalog that did not fit would be fetched by each read.
    sizeCalculation: ({ bytes }) => Math.min(maxBytes - MAX_GROUPS, bytes),
    perf: clock,
    ttlResolution: 0,
    allowStale: true,
    noDeleteOnStaleGet: true,
    noDeleteOnFetchRejection: true,
    // Its readers wait for what is evicted meanwhile.
    ignoreFetchAbort: true,
    async fetchMethod(key, held, { options: entry, context: { viewer, group, purpose } }) {
      const catalog = held ?? createGroupCatalog(group, key, options);
      const isRefresh = purpose === 'refresh';
      calls.set(key, viewer.tokenHash);
      try {
        const caller = isRefresh ? inBackground(viewer) : detached(viewer);
        const confirmed = purpose === 'proof' || !catalog.copy?.etag ? null : catalog.copy;
        const answer = await gateway.getAllTickers(caller, group, confirmed?.etag ?? null);
        entry.ttl = await catalog.receive(answer, confirmed, isRefresh);
        onFetched?.(answer.modified ? 'modified' : 'unmodified');
      } catch (error) {
        const isOfToken = isPersonal(error);
        onFetched?.(isOfToken ? 'personal' : 'failed');
        if (isOfToken) catalog.refuse(viewer.tokenHash);
        else entry.ttl = catalog.fail(error);
        if (isOfToken || catalog.served() === null) throw error;
      } finally {
        calls.delete(key);
      }
      return catalog;
    },
  });

  /** The catalogs of all groups, also while they are fetched anew. */
  function all(): readonly GroupCatalog[] {
    const found: GroupCatalog[] = [];
    catalogs.forEach((catalog) => {
      found.push(catalog);
    });
    return found;
  }

  return {
    all,
    held: (key: string) => catalogs.get(key),
    /** The hash of the token that a call in flight is made with. */
    leader: (key: string) => calls.get(key),
    get byteSize(): number {
      return catalogs.calculatedSize;
    },
    /** Joins the call in flight, or begins one. Resolves where the catalog may be served, else rejects as the call does. */
    fetch(viewer: Viewer, group: string, purpose: 'read' | 'proof'): Promise<GroupCatalog> {
      const context = { viewer, group, purpose };
      const key = groupKey(viewer, group);
      return catalogs.forceFetch(key, { context, allowStale: false, forceRefresh: true });
    },
    /** Begins a refresh with the viewer's token where it is time, and none is under way. */
    refresh(viewer: Viewer, { group, key, isRefused }: GroupCatalog): void {
      if (catalogs.has(key) || calls.has(key) || isRefused(viewer.tokenHash)) return;
      const context = { viewer, group, purpose: 'refresh' } as const;
      fireAndForget('catalog refresh', catalogs.fetch(key, { context }));
    },
    /** As `GroupCatalog.expire`, of all groups. */
    expire(isOver: boolean): void {
      for (const catalog of all()) {
        catalogs.set(catalog.key, catalog, { ttl: catalog.expire(isOver) });
      }
    },
  };
}

/** Whether a failure concerns only the token that met it, and says nothing about the gateway. */
export function isPersonal(error: unknown): boolean {
  return (
    isGatewayError(error, 'unauthenticated', 'forbidden') ||
    error instanceof UnauthenticatedError ||
    error instanceof TooManyAttemptsError ||
    error instanceof UnsafePathError
  );
}
