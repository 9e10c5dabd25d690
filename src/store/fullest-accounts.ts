import type { Clock } from '../lib/clock.ts';
import { RECORD_LIFE_MS } from './order-records.ts';

interface Observed {
  readonly held: number;
  readonly atMs: number;
}

const KEPT = 1_000;

/**
 * How many records the accounts with the most of them hold, as their reservations in this process told:
 * figures that name nobody. After a day without an order an account has no record left.
 */
export class FullestAccounts {
  readonly #clock: Pick<Clock, 'now'>;
  #accounts = new Map<string, Observed>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  observe(login: string, held: number): void {
    this.#accounts.set(login, { held, atMs: this.#clock.now() });
    // Twice as many before they are sorted, or each account that trades once would cost a sort.
    if (this.#accounts.size > 2 * KEPT) this.#accounts = new Map(this.#fullest().slice(0, KEPT));
  }

  /** The records of the `count` fullest accounts together. */
  held(count: number): number {
    const fullest = this.#fullest().slice(0, count);
    return fullest.reduce((sum, [, { held }]) => sum + held, 0);
  }

  #fullest(): [string, Observed][] {
    const sinceMs = this.#clock.now() - RECORD_LIFE_MS;
    return [...this.#accounts]
      .filter(([, { atMs }]) => atMs > sinceMs)
      .sort(([, one], [, other]) => other.held - one.held);
  }
}
