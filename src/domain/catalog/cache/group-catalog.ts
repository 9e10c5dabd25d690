import { backoffMs } from '../../../../lib/backoff.ts';
import type { CatalogAnswer, ModifiedCatalog } from '../../../gateway/answers.ts';
import { GatewayError, isGatewayError } from '../../../gateway/errors.ts';
import { contractError } from '../../../gateway/judge.ts';
import { buildVersion, type CatalogVersion } from '../catalog-version.ts';
import type { CatalogsOptions } from '../catalogs-options.ts';
import { REMEMBERED_BYTES } from '../search/search-index.ts';
import { type CatalogChanges, createHistory } from '../sync/history.ts';
import { type CopyTimes, timesOf } from './freshness.ts';

/** A version as one answer brought it. */
export interface CatalogCopy extends CopyTimes {
  readonly version: CatalogVersion;
  readonly skipped: number;
  readonly unknownValues: number;
  readonly etag: string | null;
}

// A failure older than this says nothing about the gateway's present state.
const FAILURE_COUNTS_MS = 120_000;
const NEVER_FAILED = { times: 0, atMs: -Infinity };
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;
const REFUSED_TOKENS = 1_000;
const TTL_RESOLUTION_MS = 0.25;
/** Estimated heap of the history that one group keeps of its former versions. */
const HISTORY_BYTES = 8 * 1024 * 1024;

export type GroupCatalog = Readonly<ReturnType<typeof createGroupCatalog>>;

/** One group's cached catalog, its history, and the failures of its recent fetches. */
export function createGroupCatalog(group: string, key: string, options: CatalogsOptions) {
  const { clock, random, log, maxAgeMs } = options;
  const history = createHistory(HISTORY_BYTES);
  const refused = new Set<string>();
  let copy: CatalogCopy | null = null;
  let offeredSize = 0;
  let failed = NEVER_FAILED;
  const warn = (message: string, figures: Readonly<Record<string, number>>) =>
    log.warn({ group, ...figures }, message);

  function served(): CatalogCopy | null {
    if (copy === null) return null;
    const nowMs = clock.now();
    const isFailing = nowMs - failed.atMs < FAILURE_COUNTS_MS;
    return nowMs < (isFailing ? copy.servesUntilMs : copy.expiresMs) ? copy : null;
  }

  /** Throws where a catalog must not replace the present one. */
  function check({ instruments }: ModifiedCatalog, isProvisional: boolean): void {
    const isNewSize = offeredSize !== instruments.length;
    offeredSize = instruments.length;
    // The copy is no longer served past that time, and anything is better than nothing.
    if (copy === null || clock.now() >= copy.servesUntilMs) return;
    if (isProvisional)
      throw contractError('getAllTickers', 'a catalog that is empty or mostly broken');
    const { size } = copy.version;
    // So much at once is more likely the gateway's fault than its wish.
    if (offeredSize * 2 >= size) return;
    const message = 'a catalog with less than half of its instruments';
    if (isNewSize) warn(`${message} is kept out`, { instruments: size, offered: offeredSize });
    throw contractError('getAllTickers', message);
  }

  function hold(next: CatalogCopy): number {
    copy = next;
    offeredSize = next.version.size;
    failed = NEVER_FAILED;
    refused.clear();
    return ttlUntil(next.refreshFromMs);
  }

  /** The cache's entry is stale at that time, and not beyond it as in lru-cache; 0 would mean never. */
  function ttlUntil(ms: number): number {
    return ms - clock.now() - TTL_RESOLUTION_MS || -1;
  }

  return {
    group,
    key,
    get copy(): CatalogCopy | null {
      return copy;
    },
    /** Estimated heap. */
    get bytes(): number {
      return REMEMBERED_BYTES + (copy?.version.bytes ?? 0) + history.bytes;
    },
    /** Instruments in the gateway's last answer, which is not the copy's number where that answer was kept out. */
    get offeredSize(): number {
      return offeredSize;
    },
    /** The copy that is served without waiting. */
    served,
    /**
     * Stores op 1's answer, or throws where it must not replace the present copy, and returns the TTL until its refresh.
     * `revalidated`: the one a 304 confirms.
     */
    async receive(
      answer: CatalogAnswer,
      revalidated: CatalogCopy | null,
      isRefresh: boolean,
    ): Promise<number> {
      const isProvisional = answer.modified && isBad(answer);
      const times = timesOf(answer, { ...options, isRefresh, isProvisional });
      if (!answer.modified) {
        // The client takes a 304 for an answer to an ETag alone.
        return hold({ ...(revalidated as CatalogCopy), ...times });
      }
      const { skipped, unknownValues, total, etag } = answer;
      if (skipped > 0) warn('instruments were left out', { skipped, total });
      if (unknownValues > 0) {
        const message = 'instruments have values of enums that are not known here';
        warn(message, { unknownValues, total });
      }
      check(answer, isProvisional);
      const previous = copy?.version ?? null;
      const { version, before } = await buildVersion(answer.instruments, previous);
      if (version !== previous && previous) history.add(previous, version, before);
      // Searches use the present version until the new one is indexed.
      if (served()) await version.index;
      // A 304 without an ETag cannot prolong a provisional copy.
      return hold({ version, skipped, unknownValues, etag: isProvisional ? null : etag, ...times });
    },
    /** Ends the copy's life before its time; `isOver` also what it may serve while the gateway fails, or offers much less. */
    expire(isOver: boolean): number {
      const nowMs = clock.now();
      if (copy === null) return ttlUntil(nowMs);
      const expiresMs = Math.min(nowMs, copy.expiresMs);
      const servesUntilMs = isOver ? expiresMs : copy.servesUntilMs;
      copy = { ...copy, staleFromMs: expiresMs, expiresMs, servesUntilMs };
      return ttlUntil(nowMs);
    },
    /** Returns the time until the next attempt. */
    fail(err: unknown): number {
      // The condition itself may be refused: for good, if it were sent again.
      if (copy && isGatewayError(err, 'refused', 'contract')) copy = { ...copy, etag: null };
      const { times } = failed;
      const retryAfterSeconds = err instanceof GatewayError ? err.retryAfterSeconds : null;
      const maxMs = Math.min(MAX_RETRY_MS, maxAgeMs / 5);
      const waitMs = backoffMs(times, { baseMs: RETRY_MS, maxMs, random }, retryAfterSeconds);
      const atMs = clock.now();
      // One token's limit is not the group's.
      const retryAtMs = atMs + Math.min(MAX_RETRY_MS, waitMs);
      failed = { times: times + 1, atMs };
      // Readers get the error where there is no cached copy, and it is logged with their requests.
      if (copy && times === 0) {
        // A gateway's failure needs no stack, and its backend is logged every minute while the failure lasts.
        const about = err instanceof GatewayError ? { group, reason: err.message } : { group, err };
        log.warn(about, 'a catalog could not be renewed');
      }
      return ttlUntil(retryAtMs);
    },
    isRefused: (tokenHash: string) => refused.has(tokenHash),
    /** The refusal is about this token only: the next reader's may be accepted. */
    refuse(tokenHash: string): void {
      if (refused.size >= REFUSED_TOKENS) refused.clear();
      refused.add(tokenHash);
    },
    /** The difference from a version that a client has; everything where that version is unknown. */
    changes(since: string, to: CatalogVersion): CatalogChanges {
      const { version, instruments } = to;
      if (since === version) return { version, reset: false, upserted: [], removed: [] };
      const everything = { version, reset: true, upserted: instruments, removed: [] };
      return history.changes(since, to) ?? everything;
    },
  };
}

function isBad({ instruments, skipped, total }: ModifiedCatalog): boolean {
  return instruments.length === 0 || skipped * 2 > total;
}
