import { GatewayError } from '../../gateway/errors.ts';
import { backoffMs } from '../../lib/backoff.ts';
import type { FeedOptions } from './feed-options.ts';

type PauseOptions = Pick<FeedOptions, 'clock' | 'random' | 'pollMs'>;

/** The longest pause, in poll intervals. */
const MAX_PAUSE = 30;

/** The pause after calls of one kind that fail: it grows with each, and is no shorter than the gateway asks for. */
export class RetryPause {
  readonly #options: PauseOptions;
  /** The calls that have failed since one succeeded. Its own methods alone change these. */
  failures = 0;
  untilMs = Number.NEGATIVE_INFINITY;
  /** The gateway has asked for no call before this. */
  askedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(options: PauseOptions) {
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
