import { LRUCache } from 'lru-cache';
import { GatewayError, UnsafePathError } from '../../gateway/errors.ts';
import { backoffMs } from '../../lib/backoff.ts';
import type { Clock } from '../../lib/clock.ts';
import { TooManyAttemptsError } from '../auth/too-many-attempts-error.ts';
import { UnauthenticatedError } from '../auth/unauthenticated-error.ts';
import { detached, type Viewer } from '../auth/viewer.ts';
import type { ViewerGateway } from '../auth/viewer-gateway.ts';
import { GroupCatalog } from './group-catalog.ts';
import { type ReceiveOptions, receiveCopy } from './receive-copy.ts';
import { REMEMBERED_BYTES } from './search-index.ts';

export interface CatalogFetchOptions extends ReceiveOptions {
  readonly gateway: Pick<ViewerGateway, 'getAllTickers'>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly maxGroups: number;
  readonly maxBytes: number;
  readonly historyBytes: number;
}

/** A call of op 1 that is under way. */
export interface InFlightFetch {
  /** Hash of the token it was made with. */
  readonly leader: string;
  readonly result: Promise<FetchResult>;
}

export type FetchResult =
  | { readonly catalog: GroupCatalog }
  | {
      readonly error: unknown;
      /** It says something of the leader's token, nothing of the gateway. */
      readonly isPersonal: boolean;
    };

export type Purpose =
  /** A reader waits for it. */
  | 'read'
  /** A reader waits for it, and its 200 is to prove the token: a 304 would not. */
  | 'proof'
  /** Nobody waits for it. */
  | 'refresh';

const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;

/** The groups' catalogs, and the one call at a time that each of them gets. */
export class CatalogFetches {
  readonly #options: CatalogFetchOptions;
  readonly #catalogs: LRUCache<string, GroupCatalog>;
  readonly #inFlight = new Map<string, InFlightFetch>();

  constructor(options: CatalogFetchOptions) {
    this.#options = options;
    const { maxGroups, maxBytes } = options;
    this.#catalogs = new LRUCache({
      max: maxGroups,
      maxSize: maxBytes,
      // The newest one is always kept: without it each read would fetch it.
      sizeCalculation: (catalog) => Math.min(maxBytes, bytesOf(catalog)),
    });
  }

  /** Only groups whose catalog the gateway has given to somebody: claims make no entries. */
  catalog(group: string): GroupCatalog | undefined {
    return this.#catalogs.get(group);
  }

  *catalogs(): Iterable<GroupCatalog> {
    yield* this.#catalogs.values();
  }

  under(group: string): InFlightFetch | undefined {
    return this.#inFlight.get(group);
  }

  launch(viewer: Viewer, group: string, purpose: Purpose): InFlightFetch {
    const result = this.#fetch(viewer, group, purpose).finally(() => this.#inFlight.delete(group));
    const inFlight = { leader: viewer.tokenHash, result };
    this.#inFlight.set(group, inFlight);
    return inFlight;
  }

  async #fetch(viewer: Viewer, group: string, purpose: Purpose): Promise<FetchResult> {
    const { gateway, clock, historyBytes } = this.#options;
    const catalog = this.#catalogs.peek(group) ?? new GroupCatalog(group, historyBytes);
    const asked = purpose === 'proof' || !catalog.copy?.etag ? null : catalog.copy;
    try {
      const caller = purpose === 'refresh' ? unnoticed(viewer) : detached(viewer);
      const answer = await gateway.getAllTickers(caller, group, asked?.etag ?? null);
      const received = { answer, arrivedMs: clock.now(), asked, isRefresh: purpose === 'refresh' };
      await receiveCopy(catalog, received, this.#options);
      this.#catalogs.set(group, catalog);
      return { catalog };
    } catch (error) {
      if (isPersonal(error)) {
        catalog.refuse(viewer.tokenHash);
        return { error, isPersonal: true };
      }
      this.#failed(catalog, error);
      return { error, isPersonal: false };
    }
  }

  #failed(catalog: GroupCatalog, err: unknown): void {
    const { clock, random, maxAgeMs, log } = this.#options;
    const asked = err instanceof GatewayError ? (err.retryAfterSeconds ?? 0) * 1000 : 0;
    const maxMs = Math.min(LONGEST_RETRY_MS, maxAgeMs / 5);
    const waitMs = backoffMs(catalog.failures, { baseMs: RETRY_MS, maxMs, random });
    catalog.fail(clock.now(), Math.max(asked, waitMs));
    // Without a copy at hand the readers get the error, and it is logged with their requests.
    if (catalog.copy) log.warn({ err, group: catalog.group }, 'a catalog could not be renewed');
  }
}

/** Whether a failure concerns the token it happened to, and nobody else's. */
export function isPersonal(error: unknown): boolean {
  if (error instanceof GatewayError) {
    return error.kind === 'unauthenticated' || error.kind === 'forbidden';
  }
  return (
    error instanceof UnauthenticatedError ||
    error instanceof TooManyAttemptsError ||
    error instanceof UnsafePathError
  );
}

/** The request that set off a refresh does not wait for it, so its receipt does not have it. */
function unnoticed(viewer: Viewer): Viewer {
  const { receipt: _, ...caller } = detached(viewer).caller;
  return { ...viewer, caller };
}

function bytesOf({ copy, history }: GroupCatalog): number {
  return REMEMBERED_BYTES + (copy?.version.bytes ?? 0) + history.bytes;
}
