import { fireAndForget } from '../fire-and-forget.ts';
import type { LiveOptions, LiveViewer, PollOutcome } from './live-options.ts';
import type { PollTurn } from './poll-scheduler.ts';
import { RetryPause } from './retry-pause.ts';
import type { RingMember, TokenRing } from './token-ring.ts';

type Poll<Viewer> = (member: RingMember<Viewer>) => Promise<PollOutcome>;

/** Decides when a list is polled, and with which of its tokens: in round robin, one call at a time. */
export class Poller<Viewer extends LiveViewer> {
  readonly #options: LiveOptions<Viewer>;
  readonly #ring: TokenRing<Viewer>;
  readonly #poll: Poll<Viewer>;
  readonly #turn: PollTurn;
  readonly #retry: RetryPause;
  #isInFlight = false;
  /** Another poll was requested after the call under way was sent. */
  #isOutdated = false;
  /** False until the first answer: the interval has no phase yet. */
  #hasPhase = false;
  #startedAtMs = Number.NEGATIVE_INFINITY;

  /** `poll` makes one call; it must not reject. */
  constructor(options: LiveOptions<Viewer>, ring: TokenRing<Viewer>, poll: Poll<Viewer>) {
    this.#options = options;
    this.#ring = ring;
    this.#poll = poll;
    this.#retry = new RetryPause(options);
    this.#turn = options.scheduler.join(() => this.#start());
  }

  /** Whether a first call was made. */
  get hasBegun(): boolean {
    return Number.isFinite(this.#startedAtMs);
  }

  /**
   * Begins with the ring's first token, or resumes after `pause`, no sooner than it would have polled without it. `sinceMs` is
   * when the call was sent whose list is shown.
   */
  resume(sinceMs = this.#startedAtMs): void {
    if (this.#isInFlight) return;
    const dueMs = Math.max(sinceMs + this.#options.pollMs, this.#retry.untilMs);
    if (dueMs <= this.#options.clock.now()) this.#turn.soon();
    else this.#turn.at(dueMs);
  }

  pause(): void {
    this.#turn.leave();
  }

  /** The list has surely changed. A backend that asked for a pause is not polled before its end. */
  pollNow(): void {
    if (this.#ring.isEmpty || this.#retry.hasFailed) return;
    if (this.#isInFlight) this.#isOutdated = true;
    else this.#turn.soon();
  }

  #start(): void {
    const { clock } = this.#options;
    const member = this.#isInFlight ? null : this.#ring.next(clock.now());
    if (member === null) return;
    this.#isInFlight = true;
    this.#isOutdated = false;
    this.#startedAtMs = clock.now();
    // One that fails by itself has failed as well, or the list would stand still for good.
    const failed = (error: unknown): PollOutcome => ({ kind: 'failed', error });
    const polling = this.#poll(member)
      .catch(failed)
      .then((outcome) => this.#polled(outcome));
    fireAndForget('live feed', polling);
  }

  #polled(outcome: PollOutcome): void {
    const { clock, pollMs, random, onPoll } = this.#options;
    const { kind, error } = outcome;
    this.#isInFlight = false;
    onPoll?.(outcome);
    if (kind === 'failed') this.#retry.failed(error);
    else if (kind !== 'refused') this.#retry.succeeded();
    if (this.#ring.isEmpty) return;
    // A refusal is about the token alone: the next token polls immediately, so that no subscription misses a poll.
    const isDue = kind === 'refused' || this.#isOutdated || this.#ring.unproved(clock.now());
    if (kind === 'failed') this.#turn.at(this.#retry.untilMs);
    else if (isDue) this.#turn.soon();
    else {
      // Jitter: a random phase keeps lists that began together from polling together.
      const phaseMs = this.#hasPhase ? 0 : pollMs * (random() - 0.5);
      this.#hasPhase = true;
      this.#turn.every(pollMs, this.#startedAtMs + phaseMs);
    }
  }
}
