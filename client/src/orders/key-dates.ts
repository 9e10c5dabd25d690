import type { Core } from '../core.ts';
import { networkError } from '../request/failures.ts';

const HOUR_MS = 3_600_000;
/** The server keeps a key for 24 hours; the hour between is room for clocks that differ and requests on their way. */
const MAX_LIFE_MS = 23 * HOUR_MS;
/** The clocks of the server's replicas differ by less; the server allows for as much. */
const REPLICAS_DIFFER_MS = 2_000;
const UNDATED =
  'The order was not sent, because no answer of the server tells its time: the headers `Date` and `X-Request-Id` are missing.';

/** `fresh`: the server still has what it knows of the key. `old`: it may have forgotten it. `inDoubt`: its age is unknown. */
export type KeyAge = 'fresh' | 'old' | 'inDoubt';

/** When an order's key was first used, and the dates that the server is sent of it. */
export class KeyDates {
  readonly #clocks: Pick<Core, 'environment' | 'serverClock'>;
  /** A key of an earlier run is used, though it may not be known since when. */
  #isUsed = false;
  /** The first use by the wall clock; null where it is not known. */
  #at: number | null = null;
  /** The first use by the uptime of this run; before its start for a key of an earlier run. */
  #up = 0;
  /** The first use by the server's clock, at the earliest; null while that clock is not known. */
  #made: number | null = null;
  /** Whether `made` may be early by the sleep of this machine, so that no deadline follows from it. */
  #isEarly = false;
  /** Null before the first request with the key. */
  #sent: { readonly keyMade: string | undefined } | null = null;

  constructor(clocks: Pick<Core, 'environment' | 'serverClock'>) {
    this.#clocks = clocks;
  }

  /** Takes over a key of an earlier run. What this device's clocks said then may have been set since. */
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

  /** Dates the key by the server's clock: early where the machine has slept since the server's last answer, until its next one. */
  date(): void {
    const { now, isBehind } = this.#serverTime;
    const isDone = this.#made !== null && (isBehind || !this.#isEarly);
    if (isDone || this.#at === null || now === null) return;
    this.#made = Math.floor(now - this.elapsedMs);
    this.#isEarly = isBehind;
  }

  /** Fixes the dates before the first request. Throws where the server's time is not known. */
  fix(): void {
    this.date();
    if (this.#made === null) throw networkError(UNDATED);
    this.#sent ??= { keyMade: this.#dateAt(0) };
  }

  /**
   * How old the key is. Only a fresh one may be sent again, and of a fresh one alone the server knows that it was never used. The
   * server's clock decides, not this device's. Where it is not known, the age is by the clock of this run that
   * says more: uptime stands still while the machine sleeps, and the clock on the wall can be set.
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

  /** How long the order may still be sent, where it may for so long at most. */
  leftMs(maxWaitMs: number): number {
    return Math.max(0, Math.min(maxWaitMs, MAX_LIFE_MS) - this.elapsedMs);
  }

  /** Since when the server would have to know of the order, in ISO 8601; undefined where the server's time was not known. */
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

  /** Sends no `keyMade`, where another request may have used the key before. */
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
