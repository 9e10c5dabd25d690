import { GatewayError, isGatewayError } from '../../../gateway/errors.ts';
import { contractError } from '../../../gateway/judge.ts';
import type {
  CatalogAnswer,
  ModifiedCatalog,
} from '../../../gateway/operations/get-all-tickers.ts';
import { backoffMs } from '../../../lib/backoff.ts';
import { buildVersion, type CatalogVersion } from '../catalog-version.ts';
import type { CatalogsOptions } from '../catalogs-options.ts';
import { History } from '../history.ts';
import { REMEMBERED_BYTES } from '../search/search-index.ts';
import { type CopyTimes, timesOf } from './freshness.ts';

/** A version, with the facts of the answer that brought it. */
export interface CatalogCopy extends CopyTimes {
  readonly version: CatalogVersion;
  readonly skipped: number;
  readonly etag: string | null;
}

// An older failure does not show the gateway's present state.
const FAILURE_COUNTS_MS = 120_000;
const NEVER_FAILED = { times: 0, atMs: -Infinity };
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;
const REFUSED_TOKENS = 1_000;
const TTL_RESOLUTION_MS = 0.25;
/** Estimated heap of one group's history of former versions. */
const HISTORY_BYTES = 8 * 1024 * 1024;

type GroupOptions = Pick<
  CatalogsOptions,
  'clock' | 'random' | 'log' | 'maxAgeMs' | 'staleMs' | 'gatewayDate'
>;

/** One group's cached catalog, its history, and the failures of its recent fetches. */
export class GroupCatalog {
  readonly group: string;
  readonly key: string;
  readonly history = new History(HISTORY_BYTES);
  readonly #options: GroupOptions;
  readonly #refused = new Set<string>();
  #copy: CatalogCopy | null = null;
  #offeredSize = 0;
  #failed = NEVER_FAILED;

  constructor(group: string, key: string, options: GroupOptions) {
    this.group = group;
    this.key = key;
    this.#options = options;
  }

  get copy(): CatalogCopy | null {
    return this.#copy;
  }

  /** Estimated heap. */
  get bytes(): number {
    return REMEMBERED_BYTES + (this.#copy?.version.bytes ?? 0) + this.history.bytes;
  }

  /** Instruments in the gateway's last answer. It differs from the copy's number if that answer was not used. */
  get offeredSize(): number {
    return this.#offeredSize;
  }

  /** The copy that is served without waiting. */
  get served(): CatalogCopy | null {
    const copy = this.#copy;
    if (copy === null) return null;
    const nowMs = this.#options.clock.now();
    const isFailing = nowMs - this.#failed.atMs < FAILURE_COUNTS_MS;
    return nowMs < (isFailing ? copy.servesUntilMs : copy.expiresMs) ? copy : null;
  }

  /**
   * Stores op 1's answer and returns the TTL until its refresh. Throws if the answer must not replace the present copy.
   * `revalidated`: the copy that a 304 confirms.
   */
  async receive(
    answer: CatalogAnswer,
    revalidated: CatalogCopy | null,
    isRefresh: boolean,
  ): Promise<number> {
    const isProvisional = answer.modified && isBad(answer);
    const times = timesOf(answer, { ...this.#options, isRefresh, isProvisional });
    if (!answer.modified) {
      // The client accepts a 304 only after an ETag was sent.
      return this.#hold({ ...(revalidated as CatalogCopy), ...times });
    }
    const { skipped, total, etag } = answer;
    if (skipped > 0) this.#warn('instruments were left out', { skipped, total });
    this.#check(answer, isProvisional);
    const previous = this.#copy?.version ?? null;
    const { version, before } = await buildVersion(answer.instruments, previous);
    if (previous !== null && version !== previous) this.history.add(previous, version, before);
    // Searches use the present version until the new one is indexed.
    if (this.served !== null) await version.index;
    // A 304 without an ETag cannot prolong a provisional copy.
    const kept = isProvisional ? null : etag;
    return this.#hold({ version, skipped, etag: kept, ...times });
  }

  /** Expires the copy now, even if it is served only because the gateway fails. Returns the matching TTL. */
  expire(): number {
    this.#failed = NEVER_FAILED;
    const nowMs = this.#options.clock.now();
    const copy = this.#copy;
    if (copy !== null) {
      const expiresMs = Math.min(nowMs, copy.expiresMs);
      this.#copy = { ...copy, staleFromMs: expiresMs, expiresMs };
    }
    return this.#ttlUntil(nowMs);
  }

  /** Returns the time until the next attempt. */
  fail(err: unknown): number {
    const { clock, random, log, maxAgeMs } = this.#options;
    const { group } = this;
    const copy = this.#copy;
    // The gateway may have refused the conditional request itself, so the ETag is not sent again.
    if (copy && isGatewayError(err, 'refused', 'contract')) this.#copy = { ...copy, etag: null };
    const { times } = this.#failed;
    const retryAfterSeconds = err instanceof GatewayError ? err.retryAfterSeconds : null;
    const maxMs = Math.min(MAX_RETRY_MS, maxAgeMs / 5);
    const waitMs = backoffMs(times, { baseMs: RETRY_MS, maxMs, random }, retryAfterSeconds);
    const atMs = clock.now();
    this.#failed = { times: times + 1, atMs };
    // If there is no cached copy, readers get the error, and their requests log it.
    if (copy && times === 0) {
      // A failure of the gateway needs no stack trace.
      const about = err instanceof GatewayError ? { group, reason: err.message } : { group, err };
      log.warn(about, 'a catalog could not be renewed');
    }
    // `Retry-After` may concern only one token, so the group's wait is limited.
    return this.#ttlUntil(atMs + Math.min(MAX_RETRY_MS, waitMs));
  }

  isRefused(tokenHash: string): boolean {
    return this.#refused.has(tokenHash);
  }

  /** A refusal concerns only this token. The next reader's token may be accepted. */
  refuse(tokenHash: string): void {
    if (this.#refused.size >= REFUSED_TOKENS) this.#refused.clear();
    this.#refused.add(tokenHash);
  }

  /** Throws if a catalog must not replace the present one. */
  #check({ instruments }: ModifiedCatalog, isProvisional: boolean): void {
    const offered = instruments.length;
    const isNewSize = this.#offeredSize !== offered;
    this.#offeredSize = offered;
    const copy = this.#copy;
    // After this time the copy is not served, and any catalog is better than none.
    if (copy === null || this.#options.clock.now() >= copy.servesUntilMs) return;
    if (isProvisional)
      throw contractError('getAllTickers', 'a catalog that is empty or mostly broken');
    const { size } = copy.version;
    // Such a loss is more likely a fault of the gateway than intended.
    if (offered * 2 >= size) return;
    const message = 'a catalog with less than half of its instruments';
    if (isNewSize) this.#warn(`${message} is kept out`, { instruments: size, offered });
    throw contractError('getAllTickers', message);
  }

  #hold(copy: CatalogCopy): number {
    this.#copy = copy;
    this.#offeredSize = copy.version.size;
    this.#failed = NEVER_FAILED;
    this.#refused.clear();
    return this.#ttlUntil(copy.refreshFromMs);
  }

  /**
   * In lru-cache an entry is stale only after its TTL, and a TTL of 0 never ends. The correction makes it stale at the
   * given time.
   */
  #ttlUntil(ms: number): number {
    return ms - this.#options.clock.now() - TTL_RESOLUTION_MS || -1;
  }

  #warn(message: string, figures: Readonly<Record<string, number>>): void {
    this.#options.log.warn({ group: this.group, ...figures }, message);
  }
}

function isBad({ instruments, skipped, total }: ModifiedCatalog): boolean {
  return instruments.length === 0 || skipped * 2 > total;
}
