import type { Clock } from '../../lib/clock.ts';
import { FailureShare, type FailureShareOptions } from './failure-share.ts';
import type { Verdict } from './verdict.ts';

/** `half-open`: the next call is let through, or one is under way, to see whether it is over. */
export type CircuitState = 'closed' | 'open' | 'half-open';

export interface CircuitBreakerOptions extends FailureShareOptions {
  readonly clock: Clock;
  /** Between two probes, counted from the start of each. */
  readonly pauseMs: number;
  readonly onChange: (state: 'closed' | 'open') => void;
}

/** The right to make one call, handed back with what it showed. */
export interface Permit {
  readonly isProbe: boolean;
  /** Closed and open times are numbered, so that a late answer is not taken for news. */
  readonly era: number;
}

/**
 * Holds calls back from a backend that fails, and lets one through from time to time to see whether
 * it is back. It makes no calls of its own and sets no timers.
 */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  readonly #share: FailureShare;
  #era = 0;
  #ordinary: Permit = { isProbe: false, era: 0 };
  #isOpen = false;
  #probeAtMs = 0;
  #probes = 0;

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
    this.#share = new FailureShare(options);
  }

  get state(): CircuitState {
    if (!this.#isOpen) return 'closed';
    return this.#probes > 0 || this.#options.clock.now() >= this.#probeAtMs ? 'half-open' : 'open';
  }

  /** Null: not now. Every passage is settled in the end. */
  admit(): Permit | null {
    if (!this.#isOpen) return this.#ordinary;
    const nowMs = this.#options.clock.now();
    if (nowMs < this.#probeAtMs) return null;
    // From its start and whether or not it ends: a probe that hangs must not put off the next one.
    this.#probeAtMs = nowMs + this.#options.pauseMs;
    this.#probes += 1;
    return { isProbe: true, era: this.#era };
  }

  /** `account` is asked for only where a failure has to be somebody's. */
  settle(passage: Permit, verdict: Verdict, account: () => string): void {
    // Sent before the breaker opened or closed: it tells of a time that is over.
    if (passage.era !== this.#era) return;
    if (passage.isProbe) this.#probed(verdict);
    else if (verdict === 'success') this.#share.succeeded();
    else if (verdict === 'failure') {
      this.#share.failed(account());
      if (this.#share.isTooHigh) this.#turn(true);
    }
  }

  #probed(verdict: Verdict): void {
    this.#probes -= 1;
    if (verdict === 'success') this.#turn(false);
    // Otherwise tokens that are refused, one after the other, could use up every probe.
    else if (verdict === 'none') this.#probeAtMs = this.#options.clock.now();
  }

  #turn(isOpen: boolean): void {
    this.#isOpen = isOpen;
    this.#era += 1;
    this.#ordinary = { isProbe: false, era: this.#era };
    this.#probes = 0;
    this.#probeAtMs = this.#options.clock.now() + this.#options.pauseMs;
    this.#share.forget();
    this.#options.onChange(isOpen ? 'open' : 'closed');
  }
}
