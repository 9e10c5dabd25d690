import { GatewayError } from '../gateway/gateway-error.ts';
import { backoffMs } from '../lib/backoff.ts';
import type { Clock } from '../lib/clock.ts';

interface PauseOptions {
  readonly clock: Clock;
  readonly random: () => number;
}

const MAX_PAUSE_FACTOR = 30;

/** The pause after failed calls of one kind. It grows with each failure, and respects `Retry-After` up to a maximum. */
export class RetryPause {
  readonly #options: PauseOptions;
  readonly #baseMs: number;
  /** Failed calls since the last success. Only this class changes this property and the next two. */
  failures = 0;
  untilMs = Number.NEGATIVE_INFINITY;
  /** The end of the gateway's `Retry-After`. */
  retryAfterUntilMs = Number.NEGATIVE_INFINITY;

  constructor(options: PauseOptions, baseMs: number) {
    this.#options = options;
    this.#baseMs = baseMs;
  }

  get isOver(): boolean {
    return this.#options.clock.now() >= this.untilMs;
  }

  failed(error: unknown): void {
    const { clock, random } = this.#options;
    const baseMs = this.#baseMs;
    const maxMs = MAX_PAUSE_FACTOR * baseMs;
    const retryAfterSeconds = error instanceof GatewayError ? error.retryAfterSeconds : null;
    this.failures += 1;
    const pauseMs = backoffMs(this.failures, { baseMs, maxMs, random }, retryAfterSeconds);
    this.untilMs = clock.now() + Math.min(maxMs, pauseMs);
    this.retryAfterUntilMs = clock.now() + Math.min(maxMs, (retryAfterSeconds ?? 0) * 1000);
  }

  succeeded(): void {
    this.failures = 0;
    this.untilMs = Number.NEGATIVE_INFINITY;
  }
}
