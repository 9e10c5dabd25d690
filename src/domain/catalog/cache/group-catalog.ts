import type { CatalogAnswer, ModifiedCatalog } from '../../../gateway/answers.ts';
import { GatewayError } from '../../../gateway/errors.ts';
import { buildVersion, type CatalogVersion } from '../catalog-version.ts';
import type { CatalogsOptions } from '../catalogs-options.ts';
import { createHistory } from '../sync/history.ts';
import type { VersionArchive } from '../sync/version-archive.ts';
import { type CopyTimes, timesOf } from './freshness.ts';

/** A version as one answer brought it. */
export interface CatalogCopy extends CopyTimes {
  readonly version: CatalogVersion;
  readonly skipped: number;
  readonly unknownValues: number;
  readonly etag: string | null;
}

interface ReceivedAnswer {
  readonly answer: CatalogAnswer;
  readonly receivedAtMs: number;
  /** The copy whose ETag was sent, which a 304 confirms. */
  readonly revalidated: CatalogCopy | null;
  readonly isRefresh: boolean;
}

// A failure older than this says nothing about the gateway's present state.
const FAILURE_COUNTS_MS = 120_000;
const NEVER_FAILED = { times: 0, atMs: -Infinity, retryAtMs: -Infinity };
const REFUSED_TOKENS = 1_000;
/** Estimated heap of the history that one group keeps of its former versions. */
const HISTORY_BYTES = 8 * 1024 * 1024;

export type GroupCatalog = Readonly<ReturnType<typeof createGroupCatalog>>;

/** One group's cached catalog, its history, and the failures of its recent fetches. */
export function createGroupCatalog(
  group: string,
  key: string,
  archive: VersionArchive | null,
  options: CatalogsOptions,
) {
  const history = createHistory(HISTORY_BYTES);
  const refused = new Set<string>();
  let copy: CatalogCopy | null = null;
  let offeredSize = 0;
  let failed = NEVER_FAILED;
  const warn = (message: string, figures: Readonly<Record<string, number>>) =>
    options.log.warn({ group, ...figures }, message);

  function servesAt(nowMs: number): boolean {
    if (copy === null) return false;
    const isFailing = nowMs - failed.atMs < FAILURE_COUNTS_MS;
    return nowMs < (isFailing ? copy.servesUntilMs : copy.expiresMs);
  }

  /** Throws where a catalog must not replace the present one. */
  function check({ instruments }: ModifiedCatalog, isProvisional: boolean, atMs: number): void {
    const isNewSize = offeredSize !== instruments.length;
    offeredSize = instruments.length;
    // Past that time the copy is no longer served, and anything is better than nothing.
    if (copy === null || atMs >= copy.servesUntilMs) return;
    if (isProvisional) throw contractError('a catalog that is empty or mostly broken');
    const { size } = copy.version;
    // So much at once is more likely the gateway's fault than its wish.
    if (offeredSize * 2 >= size) return;
    const message = 'a catalog with less than half of its instruments';
    if (isNewSize) warn(`${message} is kept out`, { instruments: size, offered: offeredSize });
    throw contractError(message);
  }

  /** Builds the version after the present one and adds the difference to the history. */
  async function nextVersion({ instruments }: ModifiedCatalog): Promise<CatalogVersion> {
    const previous = copy?.version ?? null;
    const { version, before } = await buildVersion(instruments, previous);
    if (version === previous) return version;
    if (previous) history.add(previous, version, before);
    void archive?.remember(key, version);
    return version;
  }

  function hold(next: CatalogCopy): void {
    copy = next;
    offeredSize = next.version.size;
    failed = NEVER_FAILED;
    refused.clear();
  }

  return {
    group,
    key,
    history,
    archive,
    get copy(): CatalogCopy | null {
      return copy;
    },
    /** Instruments in the gateway's last answer, which is not the copy's number where that answer was kept out. */
    get offeredSize(): number {
      return offeredSize;
    },
    /** Since the last answer. */
    get failures(): number {
      return failed.times;
    },
    /** Whether the cached copy is served without waiting. */
    servesAt,
    /** Whether this token's read starts a refresh. */
    wantsRefresh(nowMs: number, tokenHash: string): boolean {
      const fromMs = Math.max(copy?.refreshFromMs ?? Infinity, failed.retryAtMs);
      return nowMs >= fromMs && !refused.has(tokenHash);
    },
    /** Stores op 1's answer as the group's copy. Throws where it must not replace the present one. */
    async receive({ answer, revalidated, ...received }: ReceivedAnswer): Promise<void> {
      const isProvisional = answer.modified && isBad(answer);
      const times = timesOf(answer, { ...options, ...received, isProvisional });
      if (!answer.modified) {
        if (!revalidated) throw contractError('a 304 to a request without If-None-Match');
        hold({ ...revalidated, ...times });
        return;
      }
      const { skipped, unknownValues, total, etag } = answer;
      if (skipped > 0) warn('instruments were left out', { skipped, total });
      if (unknownValues > 0) {
        const message = 'instruments have values of enums that are not known here';
        warn(message, { unknownValues, total });
      }
      check(answer, isProvisional, received.receivedAtMs);
      const version = await nextVersion(answer);
      // Searches use the present version until the new one is indexed.
      if (servesAt(received.receivedAtMs)) await version.index;
      else void version.index;
      // Without an ETag a 304 cannot prolong a provisional copy.
      hold({ version, skipped, unknownValues, etag: isProvisional ? null : etag, ...times });
    },
    /** Ends the copy's life before its time; `isOver` also what it may serve while the gateway fails, or offers much less. */
    expire(nowMs: number, isOver: boolean): void {
      if (copy === null) return;
      const expiresMs = Math.min(nowMs, copy.expiresMs);
      const servesUntilMs = isOver ? expiresMs : copy.servesUntilMs;
      copy = { ...copy, staleFromMs: expiresMs, expiresMs, servesUntilMs };
    },
    fail(nowMs: number, retryInMs: number): void {
      failed = { times: failed.times + 1, atMs: nowMs, retryAtMs: nowMs + retryInMs };
    },
    /** The refusal is about this token only: the next reader's may be accepted. */
    refuse(tokenHash: string): void {
      if (refused.size >= REFUSED_TOKENS) refused.clear();
      refused.add(tokenHash);
    },
  };
}

function isBad({ instruments, skipped, total }: ModifiedCatalog): boolean {
  return instruments.length === 0 || skipped * 2 > total;
}

function contractError(message: string): GatewayError {
  return new GatewayError('contract', 'getAllTickers', message);
}
