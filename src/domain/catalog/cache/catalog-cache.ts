import { LRUCache } from 'lru-cache';
import { isGatewayError, UnsafePathError } from '../../../gateway/errors.ts';
import { fireAndForget } from '../../../lib/fire-and-forget.ts';
import { TooManyAttemptsError, UnauthenticatedError } from '../../auth/errors.ts';
import { detached, groupKey, inBackground, type Viewer } from '../../auth/viewer.ts';
import type { CatalogsOptions } from '../catalogs-options.ts';
import { GroupCatalog } from './group-catalog.ts';

/** A call of op 1 with its caller. No reader waits for a refresh. */
interface CatalogFetch {
  readonly viewer: Viewer;
  readonly group: string;
  readonly isRefresh: boolean;
}

const MAX_GROUPS = 100;

/**
 * The groups' catalogs. An entry is stale when its refresh is due; its `GroupCatalog` decides how long a stale copy is
 * served. Claims create no entry: a catalog is stored only after the gateway has served it to a client.
 */
export class CatalogCache {
  readonly #options: CatalogsOptions;
  /** The hash of the token of each call in flight, by its group's key. */
  readonly #calls = new Map<string, string>();
  readonly #catalogs: LRUCache<string, GroupCatalog, CatalogFetch>;

  constructor(options: CatalogsOptions) {
    const { maxBytes, clock } = options;
    this.#options = options;
    const call = this.#call.bind(this);
    this.#catalogs = new LRUCache({
      max: MAX_GROUPS,
      maxSize: maxBytes,
      // The size is capped. Otherwise a new catalog that does not fit would be fetched by each read.
      sizeCalculation: ({ bytes }) => Math.min(maxBytes - MAX_GROUPS, bytes),
      perf: clock,
      ttlResolution: 0,
      allowStale: true,
      noDeleteOnStaleGet: true,
      noDeleteOnFetchRejection: true,
      // If an entry is evicted during its fetch, the readers still get the answer.
      ignoreFetchAbort: true,
      async fetchMethod(key, held, { options: entry, context }) {
        const catalog = held ?? new GroupCatalog(context.group, key, options);
        entry.ttl = await call(catalog, context);
        return catalog;
      },
    });
  }

  /** The catalogs of all groups, including those that are being fetched. */
  get all(): readonly GroupCatalog[] {
    const found: GroupCatalog[] = [];
    this.#catalogs.forEach((catalog) => {
      found.push(catalog);
    });
    return found;
  }

  held(key: string): GroupCatalog | undefined {
    return this.#catalogs.get(key);
  }

  /** The hash of the token that a call in flight uses. */
  leader(key: string): string | undefined {
    return this.#calls.get(key);
  }

  get byteSize(): number {
    return this.#catalogs.calculatedSize;
  }

  /** Joins the call in flight, or starts one. Resolves if the catalog can be served, otherwise rejects like the call. */
  fetch(viewer: Viewer, group: string): Promise<GroupCatalog> {
    const context = { viewer, group, isRefresh: false };
    const key = groupKey(viewer, group);
    return this.#catalogs.forceFetch(key, { context, allowStale: false, forceRefresh: true });
  }

  /** Starts a refresh with the viewer's token if it is due and none is under way. */
  refresh(viewer: Viewer, catalog: GroupCatalog): void {
    const { group, key } = catalog;
    const isUnderWay = this.#catalogs.has(key) || this.#calls.has(key);
    if (isUnderWay || catalog.isRefused(viewer.tokenHash)) return;
    const context = { viewer, group, isRefresh: true };
    fireAndForget('catalog refresh', this.#catalogs.fetch(key, { context }));
  }

  /** Expires the copies of all groups, as `GroupCatalog.expire` does. */
  expire(): void {
    for (const catalog of this.all) {
      this.#catalogs.set(catalog.key, catalog, { ttl: catalog.expire() });
    }
  }

  /** Calls op 1. Returns the TTL until the next refresh. */
  async #call(catalog: GroupCatalog, fetch: CatalogFetch): Promise<number> {
    const { gateway, onFetched } = this.#options;
    const { viewer, group, isRefresh } = fetch;
    const caller = isRefresh ? inBackground(viewer) : detached(viewer);
    const confirmed = catalog.copy?.etag ? catalog.copy : null;
    this.#calls.set(catalog.key, viewer.tokenHash);
    try {
      const answer = await gateway.getAllTickers(caller, group, confirmed?.etag ?? null);
      const ttl = await catalog.receive(answer, confirmed, isRefresh);
      onFetched?.(answer.modified ? 'modified' : 'unmodified');
      return ttl;
    } catch (error) {
      if (isPersonal(error)) {
        onFetched?.('personal');
        catalog.refuse(viewer.tokenHash);
        throw error;
      }
      onFetched?.('failed');
      const ttl = catalog.fail(error);
      if (catalog.served === null) throw error;
      return ttl;
    } finally {
      this.#calls.delete(catalog.key);
    }
  }
}

/** Whether a failure concerns only its token, and shows nothing about the gateway. */
export function isPersonal(error: unknown): boolean {
  return (
    isGatewayError(error, 'unauthenticated', 'forbidden') ||
    error instanceof UnauthenticatedError ||
    error instanceof TooManyAttemptsError ||
    error instanceof UnsafePathError
  );
}
