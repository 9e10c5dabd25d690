import type { Core } from '../core.ts';
import { networkError } from '../request/failures.ts';

/** The server takes a new key for almost 24 hours. One hour is a reserve for requests under way. */
const MAX_LIFE_MS = 23 * 3_600_000;
const UNDATED =
  'The order was not sent, because the time of the server is unknown: its answers lack the headers `Date` and `X-Request-Id`.';

/** The time of an order's first tap, and the deadline that is sent to the server for it. */
export class KeyDates {
  readonly #clocks: Pick<Core, 'environment' | 'serverClock'>;
  /** Whether the order was tapped. For a key of an earlier run the time of its first tap may be unknown. */
  #isUsed = false;
  /** The time of the first tap by this device's wall clock, which can be set; null if unknown. */
  #usedAt: number | null = null;
  /** The time of the first tap by this device's uptime; negative if it was in an earlier run. */
  #usedUptime = 0;
  /** The time of the first tap by the server's clock; null while it is unknown. The true time may be later. */
  #made: number | null = null;
  /** Whether this machine may have slept before `made` was set. Then `made` may be too early, and gives no deadline. */
  #mayBeEarly = false;

  constructor(clocks: Pick<Core, 'environment' | 'serverClock'>) {
    this.#clocks = clocks;
  }

  /** Takes over a key of an earlier run. This device's clocks may have been set since then. */
  adopt(made: number | null): void {
    const { environment, serverClock } = this.#clocks;
    const now = serverClock.now();
    this.#isUsed = true;
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
   * Dates the tap by the server's clock. The date is too early if the machine has slept since the server's last answer; the
   * next answer corrects it.
   */
  date(): void {
    const { serverClock } = this.#clocks;
    const now = serverClock.now();
    const { isBehind } = serverClock;
    const needsDate = this.#made === null || (this.#mayBeEarly && !isBehind);
    if (!needsDate || this.#usedAt === null || now === null) return;
    this.#made = Math.floor(now - this.elapsedMs);
    this.#mayBeEarly = isBehind;
  }

  /** Fixes the deadline before the first request. Throws if the server's time is unknown. */
  fix(): void {
    this.date();
    if (this.#made === null) throw networkError(UNDATED);
  }

  /** The time since the first tap: the longer one of this device's two clocks; infinite if unknown. */
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

  /** The time until which the order may be sent, by the server's clock, in ISO 8601; undefined if it is unknown. */
  sendBefore(maxWaitMs: number): string | undefined {
    if (this.#mayBeEarly || this.#made === null) return undefined;
    return new Date(this.#made + Math.min(maxWaitMs, MAX_LIFE_MS)).toISOString();
  }
}
