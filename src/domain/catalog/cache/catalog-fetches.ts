import { LRUCache } from 'lru-cache';
import { isGatewayError, UnsafePathError } from '../../../gateway/errors.ts';
import { TooManyAttemptsError, UnauthenticatedError } from '../../auth/errors.ts';
import { detached, groupKey, inBackground, type Viewer } from '../../auth/viewer.ts';
import type { CatalogsOptions } from '../catalogs-options.ts';
import { createGroupCatalog, type GroupCatalog } from './group-catalog.ts';

/** A call of op 1 in flight. */
interface InFlightFetch {
  /** The hash of the token that the call is made with. */
  readonly leader: string;
  /** Never rejects. `error` is null where the catalog is that of the answer. */
  readonly result: Promise<{ readonly catalog: GroupCatalog; readonly error: unknown }>;
}

type Purpose =
  /** A reader waits for the result. */
  | 'read'
  /** A reader waits, and the 200 is to prove its token: a 304 would prove nothing. */
  | 'proof'
  /** No reader waits for the result. */
  | 'refresh';

const MAX_GROUPS = 100;

export type CatalogFetches = ReturnType<typeof createCatalogFetches>;

/** The groups' cached catalogs; a single flight per group keeps the gateway at one call at a time. */
export function createCatalogFetches(options: CatalogsOptions) {
  const { gateway, maxBytes, onFetched } = options;
  const inFlight = new Map<string, InFlightFetch>();
  const catalogs = new LRUCache<string, GroupCatalog>({
    max: MAX_GROUPS,
    maxSize: maxBytes,
    // The size is capped, because a newest catalog that did not fit would be fetched by each read.
    sizeCalculation: ({ bytes }) => Math.min(maxBytes, bytes),
  });

  async function fetch(viewer: Viewer, group: string, purpose: Purpose) {
    const key = groupKey(viewer, group);
    const catalog = catalogs.peek(key) ?? createGroupCatalog(group, key, options);
    const revalidated = purpose === 'proof' || !catalog.copy?.etag ? null : catalog.copy;
    const isRefresh = purpose === 'refresh';
    try {
      const caller = isRefresh ? inBackground(viewer) : detached(viewer);
      const answer = await gateway.getAllTickers(caller, group, revalidated?.etag ?? null);
      await catalog.receive(answer, revalidated, isRefresh);
      catalogs.set(key, catalog);
      onFetched?.(answer.modified ? 'modified' : 'unmodified');
      return { catalog, error: null };
    } catch (error) {
      const isOfToken = isPersonal(error);
      if (isOfToken) catalog.refuse(viewer.tokenHash);
      else catalog.fail(error);
      onFetched?.(isOfToken ? 'personal' : 'failed');
      return { catalog, error };
    }
  }

  return {
    /** Holds only groups whose catalog the gateway has served to a client: claims create no entries. */
    catalog: (key: string) => catalogs.get(key),
    catalogs: () => [...catalogs.values()],
    get byteSize(): number {
      return catalogs.calculatedSize;
    },
    under: (key: string) => inFlight.get(key),
    launch(viewer: Viewer, group: string, purpose: Purpose): InFlightFetch {
      const key = groupKey(viewer, group);
      const result = fetch(viewer, group, purpose).finally(() => inFlight.delete(key));
      const launched = { leader: viewer.tokenHash, result };
      inFlight.set(key, launched);
      return launched;
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
