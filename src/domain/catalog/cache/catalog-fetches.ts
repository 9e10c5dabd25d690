import { LRUCache } from 'lru-cache';
import { backoffMs } from '../../../../lib/backoff.ts';
import type { Clock } from '../../../../lib/clock.ts';
import type { Log } from '../../../../lib/log.ts';
import { GatewayError, isGatewayError, UnsafePathError } from '../../../gateway/errors.ts';
import { TooManyAttemptsError, UnauthenticatedError } from '../../auth/errors.ts';
import type { Viewer } from '../../auth/viewer.ts';
import type { ViewerGateway } from '../../auth/viewer-gateway.ts';
import { REMEMBERED_BYTES } from '../search/search-index.ts';
import { VersionArchive, type VersionStore } from '../sync/version-archive.ts';
import { GroupCatalog, type GroupCatalogOptions } from './group-catalog.ts';

export interface CatalogFetchOptions {
  readonly gateway: Pick<ViewerGateway, 'getAllTickers'>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Pick<Log, 'warn'>;
  readonly maxAgeMs: number;
  readonly staleMs: number;
  /** The store that replicas share; null where there is only one. */
  readonly versions: VersionStore | null;
  readonly onFetched?: (outcome: 'modified' | 'unmodified' | 'failed' | 'personal') => void;
  readonly maxGroups?: number;
  /** Estimated heap of all groups' catalogs. */
  readonly maxBytes?: number;
}

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

const MIB = 1024 * 1024;
const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;

/** The groups' cached catalogs; a single flight per group keeps the gateway at one call at a time. */
export class CatalogFetches {
  readonly #options: CatalogFetchOptions;
  readonly #catalogOptions: GroupCatalogOptions;
  readonly #catalogs: LRUCache<string, GroupCatalog>;
  readonly #inFlight = new Map<string, InFlightFetch>();

  constructor(options: CatalogFetchOptions) {
    const { maxGroups = 100, maxBytes = 512 * MIB } = options;
    const archive = options.versions && new VersionArchive(options.versions, options.log);
    this.#options = options;
    this.#catalogOptions = { ...options, archive };
    this.#catalogs = new LRUCache({
      max: maxGroups,
      maxSize: maxBytes,
      // The size is capped, because a newest catalog that did not fit would be fetched by each read.
      sizeCalculation: (catalog) => Math.min(maxBytes, bytesOf(catalog)),
    });
  }

  /** Holds only groups whose catalog the gateway has served to a client: claims create no entries. */
  catalog(key: string): GroupCatalog | undefined {
    return this.#catalogs.get(key);
  }

  get byteSize(): number {
    return this.#catalogs.calculatedSize;
  }

  *catalogs(): Iterable<GroupCatalog> {
    yield* this.#catalogs.values();
  }

  under(key: string): InFlightFetch | undefined {
    return this.#inFlight.get(key);
  }

  launch(viewer: Viewer, group: string, purpose: Purpose): InFlightFetch {
    const key = viewer.groupKey(group);
    const result = this.#fetch(viewer, group, purpose).finally(() => this.#inFlight.delete(key));
    const inFlight = { leader: viewer.tokenHash, result };
    this.#inFlight.set(key, inFlight);
    return inFlight;
  }

  async #fetch(viewer: Viewer, group: string, purpose: Purpose): Promise<FetchResult> {
    const { gateway, clock, onFetched } = this.#options;
    const key = viewer.groupKey(group);
    const catalog = this.#catalogs.peek(key) ?? new GroupCatalog(group, key, this.#catalogOptions);
    const revalidated = purpose === 'proof' || !catalog.copy?.etag ? null : catalog.copy;
    try {
      const caller = purpose === 'refresh' ? viewer.inBackground() : viewer.detached();
      const answer = await gateway.getAllTickers(caller, group, revalidated?.etag ?? null);
      const isRefresh = purpose === 'refresh';
      await catalog.receive({ answer, receivedAtMs: clock.now(), revalidated, isRefresh });
      this.#catalogs.set(key, catalog);
      onFetched?.(answer.modified ? 'modified' : 'unmodified');
      return { catalog };
    } catch (error) {
      if (isPersonal(error)) {
        catalog.refuse(viewer.tokenHash);
        onFetched?.('personal');
        return { error, isPersonal: true };
      }
      this.#failed(catalog, error);
      onFetched?.('failed');
      return { error, isPersonal: false };
    }
  }

  #failed(catalog: GroupCatalog, err: unknown): void {
    const { clock, random, maxAgeMs, log } = this.#options;
    const retryAfterSeconds = err instanceof GatewayError ? err.retryAfterSeconds : null;
    const options = { baseMs: RETRY_MS, maxMs: Math.min(LONGEST_RETRY_MS, maxAgeMs / 5), random };
    const waitMs = backoffMs(catalog.failures, options, retryAfterSeconds);
    const isFirst = catalog.failures === 0;
    // One token's limit is not the group's.
    catalog.fail(clock.now(), Math.min(LONGEST_RETRY_MS, waitMs));
    // Without a cached copy the readers get the error, and it is logged with their requests.
    if (!catalog.copy || !isFirst) return;
    const { group } = catalog;
    // A gateway's failure needs no stack, and its backend is logged every minute while the failure lasts.
    const about = err instanceof GatewayError ? { group, reason: err.message } : { group, err };
    log.warn(about, 'a catalog could not be renewed');
  }
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

function bytesOf({ copy, history }: GroupCatalog): number {
  return REMEMBERED_BYTES + (copy?.version.bytes ?? 0) + history.bytes;
}
