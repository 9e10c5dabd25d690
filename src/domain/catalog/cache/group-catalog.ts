import type { Log } from '../../../../lib/log.ts';
import type { CatalogAnswer, ModifiedCatalog } from '../../../gateway/answers.ts';
import { GatewayError } from '../../../gateway/errors.ts';
import { buildVersion, type CatalogVersion } from '../catalog-version.ts';
import { CatalogHistory } from '../sync/history.ts';
import type { VersionArchive } from '../sync/version-archive.ts';
import { type CopyTimes, timesOf } from './freshness.ts';

/** A version as one answer brought it. */
export interface CatalogCopy extends CopyTimes {
  readonly version: CatalogVersion;
  readonly skipped: number;
  readonly unknownValues: number;
  readonly etag: string | null;
}

export interface GroupCatalogOptions {
  readonly maxAgeMs: number;
  readonly staleMs: number;
  readonly log: Pick<Log, 'warn'>;
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

/** One group's cached catalog, its history, and the failures of its recent fetches. */
export class GroupCatalog {
  readonly group: string;
  readonly history = new CatalogHistory(HISTORY_BYTES);
  readonly archive: VersionArchive | null;
  readonly #options: GroupCatalogOptions;
  #copy: CatalogCopy | null = null;
  #offeredSize = 0;
  #failed = NEVER_FAILED;
  readonly #refused = new Set<string>();

  constructor(group: string, archive: VersionArchive | null, options: GroupCatalogOptions) {
    this.group = group;
    this.archive = archive;
    this.#options = options;
  }

  get copy(): CatalogCopy | null {
    return this.#copy;
  }

  /** Instruments in the gateway's last answer, which is not the copy's number where that answer was kept out. */
  get offeredSize(): number {
    return this.#offeredSize;
  }

  /** Since the last answer. */
  get failures(): number {
    return this.#failed.times;
  }

  /** Whether the cached copy is served without waiting. */
  servesAt(nowMs: number): boolean {
    if (this.#copy === null) return false;
    const isFailing = nowMs - this.#failed.atMs < FAILURE_COUNTS_MS;
    return nowMs < (isFailing ? this.#copy.servesUntilMs : this.#copy.expiresMs);
  }

  /** Whether this token's read starts a refresh. */
  wantsRefresh(nowMs: number, tokenHash: string): boolean {
    const fromMs = Math.max(this.#copy?.refreshFromMs ?? Infinity, this.#failed.retryAtMs);
    return nowMs >= fromMs && !this.#refused.has(tokenHash);
  }

  /** Stores op 1's answer as the group's copy. Throws where it must not replace the present one. */
  async receive({ answer, revalidated, ...received }: ReceivedAnswer): Promise<void> {
    const { receivedAtMs } = received;
    if (!answer.modified) {
      if (!revalidated) throw contractError('a 304 to a request without If-None-Match');
      const times = timesOf(answer, { ...this.#options, ...received, isProvisional: false });
      this.#hold({ ...revalidated, ...times });
      return;
    }
    const { skipped, unknownValues, total, etag } = answer;
    const isProvisional = isBad(answer);
    if (skipped > 0) this.#warn('instruments were left out', { skipped, total });
    if (unknownValues > 0) {
      const message = 'instruments have values of enums that are not known here';
      this.#warn(message, { unknownValues, total });
    }
    const before = this.#copy;
    const isNewSize = this.#offeredSize !== answer.instruments.length;
    this.#offeredSize = answer.instruments.length;
    // Past that time the copy is no longer served, and anything is better than nothing.
    if (before && receivedAtMs < before.servesUntilMs) {
      if (isProvisional) throw contractError('a catalog that is empty or mostly broken');
      if (isShrunk(answer, before)) {
        const message = 'a catalog with less than half of its instruments';
        const sizes = { instruments: before.version.size, offered: this.#offeredSize };
        if (isNewSize) this.#warn(`${message} is kept out`, sizes);
        throw contractError(message);
      }
    }
    const version = await this.#nextVersion(answer);
    // Searches use the present version until the new one is indexed.
    if (before && this.servesAt(receivedAtMs)) await version.index;
    else void version.index;
    this.#hold({
      version,
      skipped,
      unknownValues,
      // Without an ETag a 304 cannot prolong a provisional copy.
      etag: isProvisional ? null : etag,
      ...timesOf(answer, { ...this.#options, ...received, isProvisional }),
    });
  }

  /** Ends the copy's life before its time. */
  expire(nowMs: number): void {
    if (this.#copy === null) return;
    const expiresMs = Math.min(nowMs, this.#copy.expiresMs);
    this.#copy = { ...this.#copy, staleFromMs: expiresMs, expiresMs };
  }

  fail(nowMs: number, retryInMs: number): void {
    this.#failed = { times: this.failures + 1, atMs: nowMs, retryAtMs: nowMs + retryInMs };
  }

  /** The refusal is about this token only: the next reader's may be accepted. */
  refuse(tokenHash: string): void {
    if (this.#refused.size >= REFUSED_TOKENS) this.#refused.clear();
    this.#refused.add(tokenHash);
  }

  #warn(message: string, figures: Readonly<Record<string, number>>): void {
    this.#options.log.warn({ group: this.group, ...figures }, message);
  }

  /** Builds the version after the present one and adds the difference to the history. */
  async #nextVersion({ instruments }: ModifiedCatalog): Promise<CatalogVersion> {
    const previous = this.#copy?.version ?? null;
    const { version, before } = await buildVersion(instruments, previous);
    if (version === previous) return version;
    if (previous) this.history.add(previous, version, before);
    void this.archive?.remember(this.group, version);
    return version;
  }

  #hold(copy: CatalogCopy): void {
    this.#copy = copy;
    this.#offeredSize = copy.version.size;
    this.#failed = NEVER_FAILED;
    this.#refused.clear();
  }
}

function isBad({ instruments, skipped, total }: ModifiedCatalog): boolean {
  return instruments.length === 0 || skipped * 2 > total;
}

/** So much at once is more likely the gateway's fault than its wish. */
function isShrunk({ instruments }: ModifiedCatalog, { version }: CatalogCopy): boolean {
  return instruments.length * 2 < version.size;
}

function contractError(message: string): GatewayError {
  return new GatewayError('contract', 'getAllTickers', message);
}
