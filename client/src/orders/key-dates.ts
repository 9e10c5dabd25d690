import type { Core } from '../core.ts';
import { networkError } from '../request/failures.ts';

const HOUR_MS = 3_600_000;
/** The server keeps a key for 24 hours; one hour is kept for clocks that differ and requests under way. */
const MAX_LIFE_MS = 23 * HOUR_MS;
/** The most by which clocks of the server's replicas differ; the server allows for as much. */
const REPLICAS_DIFFER_MS = 2_000;
const UNDATED =
  'The order was not sent, because no answer of the server tells its time: the headers `Date` and `X-Request-Id` are missing.';

/** `fresh`: the server still has its record of the key. `old`: it may have removed it. `inDoubt`: the key's age is unknown. */
export type KeyAge = 'fresh' | 'old' | 'inDoubt';

/** When an order's key was first used, and the dates of it that are sent to the server. */
export class KeyDates {
  readonly #clocks: Pick<Core, 'environment' | 'serverClock'>;
  /** True for a key of an earlier run, though the time of its first use may be unknown. */
  #isUsed = false;
  /** The first use by the wall clock; null where it is not known. */
  #at: number | null = null;
  /** The first use by the uptime of this run; before its start for a key of an earlier run. */
  #up = 0;
  /** The first use by the server's clock, at the earliest; null while that clock is unknown. */
  #made: number | null = null;
  /** Whether `made` may be too early by the time that this machine slept, so that no deadline is computed from it. */
  #isEarly = false;
  /** Null before the first request with the key. */
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
    this.#at = environment.now() - ageMs;
    this.#up = environment.uptime() - ageMs;
    this.#made = made;
  }

  /** Starts the key's clock at the tap, because the user waits from then on, whether or not the order can be sent yet. */
  begin(): void {
    if (this.#isUsed) return;
    this.#isUsed = true;
    this.#at = this.#clocks.environment.now();
    this.#up = this.#clocks.environment.uptime();
  }

  /** Forgets the first use, in which nothing was sent. */
  reset(): void {
    this.#isUsed = false;
    this.#at = null;
    this.#made = null;
    this.#isEarly = false;
  }

  /**
   * Dates the key by the server's clock. The date is too early if the machine has slept since the server's last answer; the
   * next answer corrects it.
   */
  date(): void {
    const { now, isBehind } = this.#serverTime;
    const isDone = this.#made !== null && (isBehind || !this.#isEarly);
    if (isDone || this.#at === null || now === null) return;
    this.#made = Math.floor(now - this.elapsedMs);
    this.#isEarly = isBehind;
  }

  /** Fixes the dates before the first request. Throws if the server's time is unknown. */
  fix(): void {
    this.date();
    if (this.#made === null) throw networkError(UNDATED);
    this.#sent ??= { keyMade: this.#dateAt(0) };
  }

  /**
   * The age of the key. Only a fresh key may be sent again, and only of a fresh key the server knows that it was never
   * used. The server's clock decides, not this device's. If it is unknown, the clock of this run that gives the longer time
   * decides: uptime stands still while the machine sleeps, and the wall clock can be set.
   */
  get age(): KeyAge {
    if (this.#at === null) return 'inDoubt';
    const { now } = this.#serverTime;
    const ageMs = this.#made === null || now === null ? this.elapsedMs : now - this.#made;
    return ageMs < MAX_LIFE_MS ? 'fresh' : 'old';
  }

  /** How long ago the key was first used, by the clock of this device that gives the longer time; infinite if unknown. */
  get elapsedMs(): number {
    const { environment } = this.#clocks;
    if (this.#at === null) return Number.POSITIVE_INFINITY;
    return Math.max(environment.now() - this.#at, environment.uptime() - this.#up);
  }

  get at(): number | null {
    return this.#at;
  }

  get made(): number | null {
    return this.#made;
  }

  /** How long the order may still be sent, of `maxWaitMs` in all. */
  leftMs(maxWaitMs: number): number {
    return Math.max(0, Math.min(maxWaitMs, MAX_LIFE_MS) - this.elapsedMs);
  }

  /**
   * The time from which the server must have kept its records to know of the order, in ISO 8601; undefined if the server's
   * time was unknown.
   */
  get since(): string | undefined {
    return this.#dateAt(-REPLICAS_DIFFER_MS);
  }

  /** The time until which the order may be sent, by the server's clock, in ISO 8601; undefined if it is unknown. */
  sendBefore(maxWaitMs: number): string | undefined {
    return this.#isEarly ? undefined : this.#dateAt(Math.min(maxWaitMs, MAX_LIFE_MS));
  }

  /**
   * When the key was made, by the server's clock and in ISO 8601; undefined where that was not known. A key counts as made at the
   * tap whose request is the first with it, since until then it exists in this app alone. So an order that was sent at T has a
   * `keyMade` of T at the latest:
   * - The value is fixed before the first request, and no later tap or better known clock changes it. A key that was sent without
   *   one never gets one.
   * - It is the server's time at the earliest, less the time since the tap by the clock that says more. Where both of the
   *   device's clocks lost time in between, it is still no later than the server's time at this moment, before the request.
   * - It is never the device's own time: where the server's is not known, nothing is sent.
   */
  get keyMade(): string | undefined {
    return this.#sent?.keyMade;
  }

  /** Sends no `keyMade`, because another request may have used the key before. */
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
