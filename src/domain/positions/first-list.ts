import type { Clock } from '../../../lib/clock.ts';
import { GatewayError } from '../../gateway/errors.ts';
import type { Subscription } from './subscription.ts';

/** How long subscriptions wait for a feed's first list, and the error that ends those whose wait times out. */
export class FirstList {
  readonly #timers: Clock;
  readonly #timeoutMs: number;
  readonly #waiting = new Map<Subscription, (() => void) | null>();
  #hasSent = false;
  #lastError: Error | null = null;

  constructor(timers: Clock, timeoutMs: number) {
    this.#timers = timers;
    this.#timeoutMs = timeoutMs;
  }

  /** The time counts from the first call: waiting for our own rate ceiling is not the gateway's fault. */
  wait(subscription: Subscription): void {
    this.#waiting.set(subscription, this.#hasSent ? this.#start(subscription) : null);
  }

  sent(): void {
    this.#hasSent = true;
    for (const [subscription, cancel] of this.#waiting) {
      if (cancel === null) this.#waiting.set(subscription, this.#start(subscription));
    }
  }

  failed(error: unknown): void {
    this.#lastError = error instanceof Error ? error : new Error(String(error));
  }

  received(): void {
    for (const cancel of this.#waiting.values()) cancel?.();
    this.#waiting.clear();
  }

  leave(subscription: Subscription): void {
    this.#waiting.get(subscription)?.();
    this.#waiting.delete(subscription);
  }

  #start(subscription: Subscription): () => void {
    return this.#timers.after(this.#timeoutMs, () => {
      subscription.end(
        this.#lastError ??
          new GatewayError('timeout', 'getOpenPositions', 'no first list within the deadline'),
      );
    });
  }
}
