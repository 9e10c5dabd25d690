import type { Clock } from '../../lib/clock.ts';
import { RollingWindow } from '../../lib/rolling-window.ts';

export interface RetryBudgetOptions {
  readonly clock: Clock;
  readonly windowMs: number;
  /** The share of the calls within the window. */
  readonly share: number;
  /** Allowed within the window even where there are hardly any calls. */
  readonly floor: number;
}

const SLICES = 12;

/**
 * Bounds retries to a share of the latest calls. Retrying all of them would triple the
 * load on a gateway at the very moment at which it cannot bear the load it has.
 */
export class RetryBudget {
  readonly #options: RetryBudgetOptions;
  readonly #window: RollingWindow<{ calls: number; retries: number }>;
  #spent = 0;

  constructor(options: RetryBudgetOptions) {
    this.#options = options;
    this.#window = new RollingWindow({
      clock: options.clock,
      spanMs: options.windowMs,
      slices: SLICES,
      create: () => ({ calls: 0, retries: 0 }),
    });
  }

  /** Retries since the start. */
  get spent(): number {
    return this.#spent;
  }

  get left(): number {
    let [calls, retries] = [0, 0];
    for (const slice of this.#window.slices()) {
      calls += slice.calls;
      retries += slice.retries;
    }
    // The floor is not added to the share, or at no volume would the share be kept.
    const allowed = Math.max(this.#options.floor, Math.floor(calls * this.#options.share));
    return Math.max(0, allowed - retries);
  }

  /** Counts the first attempt of a call. */
  called(): void {
    this.#window.current().calls += 1;
  }

  /** Returns true where one retry is paid for. */
  take(): boolean {
    if (this.left === 0) return false;
    this.#window.current().retries += 1;
    this.#spent += 1;
    return true;
  }

  /** Refunds a retry that did not happen. */
  giveBack(): void {
    this.#window.current().retries -= 1;
    this.#spent -= 1;
  }
}
