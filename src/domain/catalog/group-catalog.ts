import { GatewayError, isGatewayError } from '../../gateway/errors.ts';
import { contractError } from '../../gateway/judge.ts';
import type { CatalogAnswer, ModifiedCatalog } from '../../gateway/operations/get-all-tickers.ts';
import { backoffMs } from '../../lib/backoff.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { buildVersion, type CatalogVersion } from './catalog-version.ts';
import { type CopyTimes, type FreshnessOptions, timesOf } from './freshness.ts';
import { History } from './history.ts';
import { REMEMBERED_BYTES } from './search/search-index.ts';

export interface GroupOptions extends FreshnessOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Pick<Log, 'warn'>;
}

/** A version, with the facts of the answer that brought it. */
export interface CatalogCopy extends CopyTimes {
  readonly version: CatalogVersion;
  readonly skipped: number;
  readonly etag: string | null;
}

const RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;
/** How long a failure counts. After it the gateway may have recovered, so the next reader waits for a new copy. */
const FAILURE_COUNTS_MS = 120_000;
const MAX_REFUSED = 1_000;
/** Estimated heap of one group's history of former versions. */
const HISTORY_BYTES = 8 * 1024 * 1024;

/** One group's cached catalog, its history, and the failures of its recent fetches. */
export class GroupCatalog {
  readonly group: string;
  readonly key: string;
  readonly history = new History(HISTORY_BYTES);
  /** Only this class changes these two. */
  copy: CatalogCopy | null = null;
  /** Instruments in the gateway's last answer. It differs from the copy's number if that answer was not used. */
  offeredSize = 0;
  readonly #options: GroupOptions;
  /** Failed fetches since the last success. */
  #failures = 0;
  #failedAtMs = Number.NEGATIVE_INFINITY;
  /** The tokens that were refused since the last success. They start no refresh. */
  readonly #refused = new Set<string>();
  /** The earliest time of the next refresh after a failed one. */
  #retryAtMs = Number.NEGATIVE_INFINITY;

  constructor(group: string, key: string, options: GroupOptions) {
    this.group = group;
    this.key = key;
    this.#options = options;
  }

  /** Estimated heap. */
  get bytes(): number {
    return REMEMBERED_BYTES + (this.copy?.version.bytes ?? 0) + this.history.bytes;
  }

  /** The copy that is served without waiting. */
  get served(): CatalogCopy | null {
    const { copy } = this;
    if (copy === null) return null;
    const nowMs = this.#options.clock.now();
    const isFailing = nowMs - this.#failedAtMs < FAILURE_COUNTS_MS;
    return nowMs < (isFailing ? copy.servesUntilMs : copy.expiresMs) ? copy : null;
  }

  /** Whether a read with this token starts a refresh. */
  isDueFor(tokenHash: string): boolean {
    const refreshFromMs = this.copy?.refreshFromMs ?? 0;
    if (this.#options.clock.now() < Math.max(refreshFromMs, this.#retryAtMs)) return false;
    return !this.#refused.has(tokenHash);
  }

  /** Stores op 1's answer. Throws if it must not replace the present copy. `confirmed`: the copy that a 304 confirms. */
  async receive(answer: CatalogAnswer, confirmed: CatalogCopy | null): Promise<void> {
    const isProvisional = answer.modified && isBad(answer);
    const isRefresh = this.served !== null;
    const times = timesOf(answer, this.#options, { isProvisional, isRefresh });
    if (!answer.modified) {
      // The client accepts a 304 only after an ETag was sent.
      this.#hold({ ...(confirmed as CatalogCopy), ...times });
      return;
    }
    const { skipped, total, etag } = answer;
    if (skipped > 0) this.#warn('instruments were left out', { skipped, total });
    this.#check(answer, isProvisional);
    const version = await buildVersion(answer.instruments, this.copy?.version ?? null);
    this.history.add(version);
    // Searches use the present version until the new one is indexed.
    if (this.served !== null) await version.index;
    // A 304 without an ETag cannot prolong a provisional copy.
    this.#hold({ version, skipped, etag: isProvisional ? null : etag, ...times });
  }

  /** A refusal concerns only its token: a refresh with the next reader's token may succeed. */
  refuse(tokenHash: string): void {
    if (this.#refused.size < MAX_REFUSED) this.#refused.add(tokenHash);
  }

  fail(err: unknown): void {
    const { clock, random, log, maxAgeMs } = this.#options;
    const { group, copy } = this;
    // The gateway may have refused the conditional request itself, so the ETag is not sent again.
    if (copy && isGatewayError(err, 'refused', 'contract')) this.copy = { ...copy, etag: null };
    const retryAfterSeconds = err instanceof GatewayError ? err.retryAfterSeconds : null;
    const maxMs = Math.min(MAX_RETRY_MS, maxAgeMs / 5);
    const backoff = { baseMs: RETRY_MS, maxMs, random };
    const waitMs = backoffMs(this.#failures, backoff, retryAfterSeconds);
    // `Retry-After` may concern only one token, so the group's wait is limited.
    this.#retryAtMs = clock.now() + Math.min(MAX_RETRY_MS, waitMs);
    // If there is no cached copy, readers get the error, and their requests log it.
    if (copy && this.#failures === 0) {
      // A failure of the gateway needs no stack trace.
      const about = err instanceof GatewayError ? { group, reason: err.message } : { group, err };
      log.warn(about, 'a catalog could not be renewed');
    }
    this.#failures += 1;
    this.#failedAtMs = clock.now();
  }

  /** Throws if a catalog must not replace the present one. */
  #check({ instruments }: ModifiedCatalog, isProvisional: boolean): void {
    const offered = instruments.length;
    const isNewSize = this.offeredSize !== offered;
    this.offeredSize = offered;
    const { copy } = this;
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

  #hold(copy: CatalogCopy): void {
    this.copy = copy;
    this.offeredSize = copy.version.size;
    this.#refused.clear();
    this.#failures = 0;
    this.#failedAtMs = Number.NEGATIVE_INFINITY;
    this.#retryAtMs = Number.NEGATIVE_INFINITY;
  }

  #warn(message: string, figures: Readonly<Record<string, number>>): void {
    this.#options.log.warn({ group: this.group, ...figures }, message);
  }
}

function isBad({ instruments, skipped, total }: ModifiedCatalog): boolean {
  return instruments.length === 0 || skipped * 2 > total;
}
