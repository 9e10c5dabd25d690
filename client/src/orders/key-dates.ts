import type { Core } from '../core.ts';
import { networkError } from '../request/failures.ts';

const HOUR_MS = 3_600_000;
/** The server keeps a key for 24 hours. One hour is a reserve for clocks that differ and requests under way. */
const MAX_LIFE_MS = 23 * HOUR_MS;
/** How much the clocks of the server's replicas can differ. The server allows for the same difference. */
const REPLICAS_DIFFER_MS = 2_000;
const UNDATED =
  'The order was not sent, because the time of the server is unknown: its answers lack the headers `Date` and `X-Request-Id`.';

/** `fresh`: the server still has the key's record. `old`: it may have removed the record. `inDoubt`: the age is unknown. */
export type KeyAge = 'fresh' | 'old' | 'inDoubt';

/** The time when an order's key was first used, and the dates that are sent to the server for it. */
export class KeyDates {
  readonly #clocks: Pick<Core, 'environment' | 'serverClock'>;
  /** Whether the key was used. For a key of an earlier run the time of its first use may be unknown. */
  #isUsed = false;
  /** The time of the first use by this device's wall clock, which can be set; null if unknown. */
  #usedAt: number | null = null;
  /** The time of the first use by this device's uptime; negative if it was in an earlier run. */
  #usedUptime = 0;
  /** The time of the first use by the server's clock; null while it is unknown. The true time may be later. */
  #made: number | null = null;
  /** Whether this machine may have slept before `made` was set. Then `made` may be too early, and gives no deadline. */
  #mayBeEarly = false;
  /** The `keyMade` that every request with the key sends; null before the first request. */
  #sent: { readonly keyMade: string | undefined } | null = null;

  constructor(clocks: Pick<Core, 'environment' | 'serverClock'>) {
    this.#clocks = clocks;
  }

  /** Takes over a key of an earlier run. This device's clocks may have been set since then. */
  adopt(made: number | null, keyMade: string | undefined): void {
    const { environment, serverClock } = this.#clocks;
    const now = serverClock.now();
    this.#isUsed = true;
    this.#sent = { keyMade };
    if (made === null || now === null) return;
    const ageMs = Math.max(0, now - made);
    this.#usedAt = environment.now() - ageMs;
    this.#usedUptime = environment.uptime() - ageMs;
    this.#made = made;
  }

  /** Starts the key's clock at the tap, because the user waits from then on, whether or not the order can be sent yet. */
  begin(): void {
    if (this.#isUsed) return;
    this.#isUsed = true;
    this.#usedAt = this.#clocks.environment.now();
    this.#usedUptime = this.#clocks.environment.uptime();
  }

  /** Forgets the first use, because nothing was sent. */
  reset(): void {
    this.#isUsed = false;
    this.#usedAt = null;
    this.#made = null;
    this.#mayBeEarly = false;
  }

  /**
   * Dates the key by the server's clock. The date is too early if the machine has slept since the server's last answer; the
   * next answer corrects it.
   */
  date(): void {
    const { now, isBehind } = this.#serverTime;
    const needsDate = this.#made === null || (this.#mayBeEarly && !isBehind);
    if (!needsDate || this.#usedAt === null || now === null) return;
    this.#made = Math.floor(now - this.elapsedMs);
    this.#mayBeEarly = isBehind;
  }

  /** Fixes the dates before the first request. Throws if the server's time is unknown. */
  fix(): void {
    this.date();
    if (this.#made === null) throw networkError(UNDATED);
    this.#sent ??= { keyMade: this.#dateAt(0) };
  }

  /**
   * The age of the key. Only a fresh key is sent again, because only for a fresh key can the server exclude an earlier
   * use. The server's clock decides. If it is unknown, the longer time of this device's two clocks counts: the uptime stops
   * while the machine sleeps, and the wall clock can be set.
   */
  get age(): KeyAge {
    if (this.#usedAt === null) return 'inDoubt';
    const { now } = this.#serverTime;
    const ageMs = this.#made === null || now === null ? this.elapsedMs : now - this.#made;
    return ageMs < MAX_LIFE_MS ? 'fresh' : 'old';
  }

  /** The time since the key was first used: the longer one of this device's two clocks; infinite if unknown. */
  get elapsedMs(): number {
    const { environment } = this.#clocks;
    if (this.#usedAt === null) return Number.POSITIVE_INFINITY;
    return Math.max(environment.now() - this.#usedAt, environment.uptime() - this.#usedUptime);
  }

  get usedAt(): number | null {
    return this.#usedAt;
  }

  get made(): number | null {
    return this.#made;
  }

  /** How much is left of the time in which the order can be sent. */
  leftMs(maxWaitMs: number): number {
    return Math.max(0, Math.min(maxWaitMs, MAX_LIFE_MS) - this.elapsedMs);
  }

  /**
   * The server knows of the order if its records reach back to this time (ISO 8601). Undefined if the server's time was
   * unknown.
   */
  get since(): string | undefined {
    return this.#dateAt(-REPLICAS_DIFFER_MS);
  }

  /** The time until which the order may be sent, by the server's clock, in ISO 8601; undefined if it is unknown. */
  sendBefore(maxWaitMs: number): string | undefined {
    return this.#mayBeEarly ? undefined : this.#dateAt(Math.min(maxWaitMs, MAX_LIFE_MS));
  }

  /**
   * When the key was made, by the server's clock, in ISO 8601; undefined if the key was sent without it. A key counts as
   * made at the tap that leads to its first request, because before that tap only this app knows the key. `keyMade` is never
   * later than the first request:
   * - It is fixed before the first request. No later tap, and no better known clock, changes it. A key that was sent without
   *   `keyMade` never gets it.
   * - It is the server's present time minus the time since the tap. Even if both clocks of this device have counted too
   *   little of that time, the result is not later than the server's present time.
   * - It is never taken from this device's clock: if the server's time is unknown, nothing is sent.
   */
  get keyMade(): string | undefined {
    return this.#sent?.keyMade;
  }

  /** From now on no `keyMade` is sent, because another request may have used the key before. */
  leaveOutKeyMade(): void {
    this.#sent = { keyMade: undefined };
  }

  get #serverTime() {
    const { serverClock } = this.#clocks;
    return { now: serverClock.now(), isBehind: serverClock.isBehind };
  }

  #dateAt(laterMs: number): string | undefined {
    return this.#made === null ? undefined : new Date(this.#made + laterMs).toISOString();
  }
}
