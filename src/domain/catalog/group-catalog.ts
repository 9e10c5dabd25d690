import { GatewayError, isGatewayError } from '../../gateway/gateway-error.ts';
import { contractError } from '../../gateway/judge.ts';
import type { CatalogAnswer, ModifiedCatalog } from '../../gateway/operations/get-all-tickers.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { RetryPause } from '../retry-pause.ts';
import { buildVersion, type CatalogVersion, History } from './catalog-version.ts';

export interface GroupOptions {
  readonly maxAgeMs: number;
  readonly staleMs: number;
  /** The gateway's date at a time of the clock, as far as it is known. */
  readonly gatewayDate: (ms: number) => number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Pick<Log, 'warn'>;
}

/** A version of the catalog, with facts about the answer that brought the version. */
export interface CatalogCopy extends CopyTimes {
  readonly version: CatalogVersion;
  readonly skipped: number;
  readonly etag: string | null;
}

const RETRY_MS = 1_000;
/** How long a failure counts after its pause. Then the gateway may have recovered, and the next reader waits for a copy. */
const FAILURE_COUNTS_MS = 120_000;
/** Estimated heap of one group's history of former versions. */
const HISTORY_BYTES = 8 * 1024 * 1024;

/** One group's cached catalog, its history, and the failures of its recent fetches. */
export class GroupCatalog {
  readonly group: string;
  readonly key: string;
  readonly history = new History(HISTORY_BYTES);
  /** Only this class changes `copy` and `offeredSize`. */
  copy: CatalogCopy | null = null;
  /** The number of instruments in the gateway's last answer, even if that answer was not used. */
  offeredSize = 0;
  readonly #options: GroupOptions;
  /** The pause after failed fetches. A `Retry-After` may concern only one token, so it is limited. */
  readonly #retry: RetryPause;

  constructor(group: string, key: string, options: GroupOptions) {
    this.group = group;
    this.key = key;
    this.#options = options;
    // The longest pause is 30 times this: at most the last fifth of the maximum age, in which a copy is refreshed.
    this.#retry = new RetryPause(options, Math.min(RETRY_MS, options.maxAgeMs / 150));
  }

  get bytes(): number {
    return (this.copy?.version.bytes ?? 0) + this.history.bytes;
  }

  get served(): CatalogCopy | null {
    const { copy } = this;
    if (copy === null) return null;
    const nowMs = this.#options.clock.now();
    const { failures, untilMs } = this.#retry;
    const isFailing = failures > 0 && nowMs < untilMs + FAILURE_COUNTS_MS;
    const endMs = isFailing ? copy.servesUntilMs : copy.expiresMs;
    return nowMs < endMs ? copy : null;
  }

  get isDue(): boolean {
    const refreshFromMs = this.copy?.refreshFromMs ?? 0;
    return this.#options.clock.now() >= Math.max(refreshFromMs, this.#retry.untilMs);
  }

  /** Stores op 1's answer. Throws if it must not replace the present copy. `confirmed`: the copy that a 304 confirms. */
  async receive(answer: CatalogAnswer, confirmed: CatalogCopy | null): Promise<void> {
    const isProvisional = answer.modified && isBad(answer);
    const isRefresh = this.served !== null;
    const times = timesOf(answer, this.#options, { isProvisional, isRefresh });
    if (!answer.modified) {
      // Never null: the gateway client accepts a 304 only if it has sent a copy's ETag.
      this.#store({ ...(confirmed as CatalogCopy), ...times });
      return;
    }
    const { skipped, total, etag } = answer;
    const { log } = this.#options;
    const { group } = this;
    if (skipped > 0) log.warn({ group, skipped, total }, 'instruments were left out');
    this.#check(answer, isProvisional);
    const version = await buildVersion(answer.instruments, this.copy?.version ?? null);
    this.history.add(version);
    // A provisional copy has no ETag, so that no 304 prolongs its use.
    this.#store({ version, skipped, etag: isProvisional ? null : etag, ...times });
  }

  fail(err: unknown): void {
    const { group, copy } = this;
    // The gateway may have refused the conditional request itself, so the ETag is not sent again.
    if (copy && isGatewayError(err, 'refused', 'contract')) this.copy = { ...copy, etag: null };
    // If there is no cached copy, readers get the error, and their requests log it.
    if (copy && this.#retry.failures === 0) {
      // A failure of the gateway needs no stack trace.
      const about = err instanceof GatewayError ? { group, reason: err.message } : { group, err };
      this.#options.log.warn(about, 'a catalog could not be renewed');
    }
    this.#retry.failed(err);
  }

  #check({ instruments }: ModifiedCatalog, isProvisional: boolean): void {
    const offered = instruments.length;
    this.offeredSize = offered;
    const { copy } = this;
    // After this time the copy is not served, and any catalog is better than none.
    if (copy === null || this.#options.clock.now() >= copy.servesUntilMs) return;
    if (isProvisional)
      throw contractError('getAllTickers', 'a catalog that is empty or mostly broken');
    const { size } = copy.version;
    // The loss of more than half is more likely a fault of the gateway than intended.
    if (offered * 2 < size) {
      throw contractError('getAllTickers', `a catalog with ${offered} of ${size} instruments`);
    }
  }

  #store(copy: CatalogCopy): void {
    this.copy = copy;
    this.offeredSize = copy.version.size;
    this.#retry.succeeded();
  }
}

function isBad({ instruments, skipped, total }: ModifiedCatalog): boolean {
  return instruments.length === 0 || skipped * 2 > total;
}

type CopyTimes = Readonly<ReturnType<typeof timesOf>>;

// The gateway promises an hour. A `max-age` below a minute counts as a minute, so that 4 MB are not fetched every second.
const MIN_LIFE_MS = 60_000;
// A higher age counts as this one, which is too old in any case and fits into GraphQL's Int.
const MAX_AGE_SECONDS = 2_000_000_000;
// A copy that was too old when received, or provisional, is fetched again after this time.
const ASK_AGAIN_MS = 60_000;

/**
 * The age calculation of HTTP caching, without its other rules: with `no-store` each request would fetch the catalog.
 * `isProvisional`: the answer was empty or mostly broken. It is served only briefly, and only if there is no better copy.
 * `isRefresh`: the answer replaces a copy that is still served.
 */
export function timesOf(
  { headers, sentAtMs, receivedAtMs }: CatalogAnswer,
  { maxAgeMs, staleMs, gatewayDate }: Pick<GroupOptions, 'maxAgeMs' | 'staleMs' | 'gatewayDate'>,
  { isProvisional, isRefresh }: { readonly isProvisional: boolean; readonly isRefresh: boolean },
) {
  const headerAgeMs = (ageSeconds(headers.age) ?? 0) * 1000;
  const dateAgeMs = ageByDateMs(headers.date, gatewayDate(sentAtMs));
  const initialAgeMs = Math.min(MAX_AGE_SECONDS * 1000, Math.max(headerAgeMs, dateAgeMs));
  const lifeMs = lifeMsOf(maxAgeMs, headers);
  const restMs = lifeMs - initialAgeMs - (receivedAtMs - sentAtMs);
  // The gateway's own cache has no newer copy, so this one is served and marked stale from the start.
  const isTooOld = restMs <= 0;
  const usableMs = isTooOld ? ASK_AGAIN_MS : restMs;
  const ttlMs = isProvisional ? Math.min(usableMs, ASK_AGAIN_MS) : usableMs;
  const expiresMs = receivedAtMs + ttlMs;
  const lastFifthMs = expiresMs - lifeMs / 5;
  // A refresh can bring a copy that is as old as the last one. Otherwise it would start the next refresh at once.
  const isFruitless = isRefresh && lastFifthMs <= receivedAtMs;
  const refreshFromMs = isFruitless ? receivedAtMs + ASK_AGAIN_MS : lastFifthMs;
  return {
    /** When the call was sent that brought or confirmed the copy. The gateway may have made its answer at that moment. */
    sentAtMs,
    initialAgeMs,
    staleFromMs: isTooOld ? receivedAtMs : expiresMs,
    /** From this time on a read starts a background refresh (stale-while-revalidate). */
    refreshFromMs: isTooOld || isProvisional ? expiresMs : refreshFromMs,
    /** Until this time the copy is served without waiting. After it a reader waits for a new copy. */
    expiresMs,
    /** While the gateway fails, the copy is served until this time (stale-if-error). */
    servesUntilMs: isProvisional ? expiresMs : expiresMs + staleMs,
  };
}

export function lifeMsOf(maxAgeMs: number, headers: CatalogAnswer['headers']): number {
  return Math.min(maxAgeMs, Math.max(MIN_LIFE_MS, grantedLifeMs(headers['cache-control'])));
}

/** The first value of an `Age` header, which can have a value of each cache on the way; null if it is not a number. */
export function ageSeconds(age: string | undefined): number | null {
  const [seconds] = /^\s*\d+\s*(?=,|$)/.exec(age ?? '') ?? [];
  return seconds === undefined ? null : Number(seconds);
}

// `Date` counts whole seconds, so a smaller difference is not an age.
const DATE_RESOLUTION_MS = 1000;

function ageByDateMs(date: string | undefined, sentDateMs: number): number {
  // NaN without a valid date. No comparison holds for NaN.
  const ageMs = sentDateMs - Date.parse(date ?? '');
  return ageMs >= DATE_RESOLUTION_MS ? ageMs : 0;
}

/** `s-maxage` is for shared caches such as this one, and takes precedence over `max-age`. */
function grantedLifeMs(cacheControl = ''): number {
  const secondsOf = (name: string) =>
    new RegExp(`(?:^|,)\\s*${name}\\s*=\\s*"?(\\d+)"?\\s*(?:,|$)`, 'i').exec(cacheControl)?.[1];
  return Number(secondsOf('s-maxage') ?? secondsOf('max-age') ?? Infinity) * 1000;
}
