import { backoffMs } from '../backoff.ts';
import type { LiveOptions } from './live-options.ts';

/** The pause in calls of one kind that grows with each failure: what the backend asks for too, up to the ceiling. */
export class RetryPause {
  readonly #options: LiveOptions<never>;
  /** The calls that have failed since one succeeded. Its own methods alone change these. */
  failures = 0;
  untilMs = Number.NEGATIVE_INFINITY;
  /** The backend has asked to be left alone until then. */
  askedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(options: LiveOptions<never>) {
    this.#options = options;
  }

  get isOver(): boolean {
    return this.#options.clock.now() >= this.untilMs;
  }

  failed(error: unknown): void {
    const { clock, random, pollMs, pollMaxMs, retryAfterSeconds } = this.#options;
    this.failures += 1;
    const options = { baseMs: pollMs, maxMs: pollMaxMs, random };
    const asked = retryAfterSeconds?.(error) ?? null;
    const pauseMs = backoffMs(this.failures, options, asked);
    const nowMs = clock.now();
    this.untilMs = nowMs + Math.min(pollMaxMs, pauseMs);
    this.askedUntilMs = nowMs + Math.min(pollMaxMs, (asked ?? 0) * 1000);
  }

  succeeded(): void {
    this.failures = 0;
    this.untilMs = Number.NEGATIVE_INFINITY;
  }
}
