import type { Clock } from '../../lib/clock.ts';
import { RollingWindow } from '../../lib/rolling-window.ts';

export interface FailureShareOptions {
  readonly clock: Clock;
  readonly windowMs: number;
  /** Fewer calls than this are too small a sample. */
  readonly minimumCalls: number;
  /** Failures of fewer accounts than this may be their own. */
  readonly minimumAccounts: number;
  /** From 0 up to 1. */
  readonly threshold: number;
}

interface Slice {
  successes: number;
  failures: number;
  readonly byAccount: Map<string, number>;
}

const SLICES = 10;
// Enough to see that the failures are not one account's; a flood of logins must not fill the memory.
const ACCOUNTS_PER_SLICE = 64;

/** Measures the share of the latest calls that failed, and how far the failures spread over accounts. */
export class FailureShare {
  readonly #options: FailureShareOptions;
  #window: RollingWindow<Slice>;

  constructor(options: FailureShareOptions) {
    this.#options = options;
    this.#window = this.#begin();
  }

  succeeded(): void {
    this.#window.current().successes += 1;
  }

  failed(account: string): void {
    const slice = this.#window.current();
    slice.failures += 1;
    const before = slice.byAccount.get(account);
    if (before !== undefined || slice.byAccount.size < ACCOUNTS_PER_SLICE) {
      slice.byAccount.set(account, (before ?? 0) + 1);
    }
  }

  forget(): void {
    this.#window = this.#begin();
  }

  get isTooHigh(): boolean {
    const { minimumCalls, minimumAccounts, threshold } = this.#options;
    const slices = this.#window.slices();
    let [successes, failures] = [0, 0];
    for (const slice of slices) {
      successes += slice.successes;
      failures += slice.failures;
    }
    const calls = successes + failures;
    if (calls < minimumCalls || failures < calls * threshold) return false;
    const byAccount = addUp(slices);
    return byAccount.size >= minimumAccounts && Math.max(...byAccount.values()) <= failures / 2;
  }

  #begin(): RollingWindow<Slice> {
    return new RollingWindow({
      clock: this.#options.clock,
      spanMs: this.#options.windowMs,
      slices: SLICES,
      create: () => ({ successes: 0, failures: 0, byAccount: new Map() }),
    });
  }
}

function addUp(slices: readonly Slice[]): ReadonlyMap<string, number> {
  const totals = new Map<string, number>();
  for (const { byAccount } of slices) {
    for (const [account, failures] of byAccount) {
      totals.set(account, (totals.get(account) ?? 0) + failures);
    }
  }
  return totals;
}
