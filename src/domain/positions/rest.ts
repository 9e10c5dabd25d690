import { backoffMs } from '../../../lib/backoff.ts';
import { GatewayError } from '../../gateway/errors.ts';
import type { FeedOptions } from './feed-options.ts';

/** The pause in calls of one kind that grows with each failure: what the gateway asks for too, up to the ceiling. */
export class Rest {
  readonly #options: FeedOptions;
  #failures = 0;
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  get untilMs(): number {
    return this.#untilMs;
  }

  get isOver(): boolean {
    return this.#options.clock.now() >= this.#untilMs;
  }

  /** Whether the last call failed. */
  get hasFailed(): boolean {
    return this.#failures > 0;
  }

  failed(error: unknown): void {
    const { clock, random, pollMs, pollMaxMs } = this.#options;
    this.#failures += 1;
    const options = { baseMs: pollMs, maxMs: pollMaxMs, random };
    const retryAfterSeconds = error instanceof GatewayError ? error.retryAfterSeconds : null;
    const pauseMs = backoffMs(this.#failures, options, retryAfterSeconds);
    this.#untilMs = clock.now() + Math.min(pollMaxMs, pauseMs);
  }

  succeeded(): void {
    this.#failures = 0;
    this.#untilMs = Number.NEGATIVE_INFINITY;
  }
}
