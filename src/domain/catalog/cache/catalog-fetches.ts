import { LRUCache } from 'lru-cache';
import { backoffMs } from '../../../../lib/backoff.ts';
import { GatewayError, isGatewayError, UnsafePathError } from '../../../gateway/errors.ts';
import { TooManyAttemptsError, UnauthenticatedError } from '../../auth/errors.ts';
import { detached, groupKey, inBackground, type Viewer } from '../../auth/viewer.ts';
import type { CatalogsOptions } from '../catalogs-options.ts';
import { REMEMBERED_BYTES } from '../search/search-index.ts';
import { createVersionArchive } from '../sync/version-archive.ts';
import { createGroupCatalog, type GroupCatalog } from './group-catalog.ts';

/** A call of op 1 in flight. */
interface InFlightFetch {
  /** The hash of the token that the call is made with. */
  readonly leader: string;
  readonly result: Promise<FetchResult>;
}

type FetchResult =
  | { readonly catalog: GroupCatalog }
  | {
      readonly error: unknown;
      /** The failure is about the leader's token and says nothing about the gateway. */
      readonly isPersonal: boolean;
    };

type Purpose =
  /** A reader waits for the result. */
  | 'read'
  /** A reader waits, and the 200 is to prove its token: a 304 would prove nothing. */
  | 'proof'
  /** No reader waits for the result. */
  | 'refresh';

const MAX_GROUPS = 100;
const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;

export type CatalogFetches = ReturnType<typeof createCatalogFetches>;

/** The groups' cached catalogs; a single flight per group keeps the gateway at one call at a time. */
export function createCatalogFetches(options: CatalogsOptions) {
  const { gateway, clock, random, log, maxAgeMs, maxBytes, versions, onFetched } = options;
  const archive = versions && createVersionArchive(versions, log);
  const inFlight = new Map<string, InFlightFetch>();
  const catalogs = new LRUCache<string, GroupCatalog>({
    max: MAX_GROUPS,
    maxSize: maxBytes,
    // The size is capped, because a newest catalog that did not fit would be fetched by each read.
    sizeCalculation: ({ copy, history }) =>
      Math.min(maxBytes, REMEMBERED_BYTES + (copy?.version.bytes ?? 0) + history.bytes),
  });

  async function fetch(viewer: Viewer, group: string, purpose: Purpose): Promise<FetchResult> {
    const key = groupKey(viewer, group);
    const catalog = catalogs.peek(key) ?? createGroupCatalog(group, key, archive, options);
    const revalidated = purpose === 'proof' || !catalog.copy?.etag ? null : catalog.copy;
    const isRefresh = purpose === 'refresh';
    try {
      const caller = isRefresh ? inBackground(viewer) : detached(viewer);
      const answer = await gateway.getAllTickers(caller, group, revalidated?.etag ?? null);
      await catalog.receive({ answer, receivedAtMs: clock.now(), revalidated, isRefresh });
      catalogs.set(key, catalog);
      onFetched?.(answer.modified ? 'modified' : 'unmodified');
      return { catalog };
    } catch (error) {
      const isOfToken = isPersonal(error);
      if (isOfToken) catalog.refuse(viewer.tokenHash);
      else failed(catalog, error);
      onFetched?.(isOfToken ? 'personal' : 'failed');
      return { error, isPersonal: isOfToken };
    }
  }

  function failed(catalog: GroupCatalog, err: unknown): void {
    const { group, copy, failures } = catalog;
    const retryAfterSeconds = err instanceof GatewayError ? err.retryAfterSeconds : null;
    const maxMs = Math.min(LONGEST_RETRY_MS, maxAgeMs / 5);
    const waitMs = backoffMs(failures, { baseMs: RETRY_MS, maxMs, random }, retryAfterSeconds);
    // One token's limit is not the group's.
    catalog.fail(clock.now(), Math.min(LONGEST_RETRY_MS, waitMs));
    // Without a cached copy the readers get the error, and it is logged with their requests.
    if (!copy || failures > 0) return;
    // A gateway's failure needs no stack, and its backend is logged every minute while the failure lasts.
    const about = err instanceof GatewayError ? { group, reason: err.message } : { group, err };
    log.warn(about, 'a catalog could not be renewed');
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

/** Whether a failure concerns only the token that met it. */
export function isPersonal(error: unknown): boolean {
  return (
    isGatewayError(error, 'unauthenticated', 'forbidden') ||
    error instanceof UnauthenticatedError ||
    error instanceof TooManyAttemptsError ||
    error instanceof UnsafePathError
  );
}
