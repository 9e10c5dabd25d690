import { GatewayError } from '../../gateway/errors.ts';
import { backoffMs } from '../../lib/backoff.ts';
import type { FeedOptions } from './feed-options.ts';

/** The longest pause, in poll intervals. */
const MAX_PAUSE = 30;

/** The pause after failed calls of one kind. It grows with each failure, and covers `Retry-After` up to the longest pause. */
export class RetryPause {
  readonly #options: FeedOptions;
  /** Failed calls since the last success. Only this class changes these three. */
  failures = 0;
  untilMs = Number.NEGATIVE_INFINITY;
  /** The end of the gateway's `Retry-After`. */
  askedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  get isOver(): boolean {
    return this.#options.clock.now() >= this.untilMs;
  }

  failed(error: unknown): void {
    const { clock, random, pollMs: baseMs } = this.#options;
    const maxMs = MAX_PAUSE * baseMs;
    const asked = error instanceof GatewayError ? error.retryAfterSeconds : null;
    this.failures += 1;
    const pauseMs = backoffMs(this.failures, { baseMs, maxMs, random }, asked);
    this.untilMs = clock.now() + Math.min(maxMs, pauseMs);
    this.askedUntilMs = clock.now() + Math.min(maxMs, (asked ?? 0) * 1000);
  }

  succeeded(): void {
    this.failures = 0;
    this.untilMs = Number.NEGATIVE_INFINITY;
  }
}
