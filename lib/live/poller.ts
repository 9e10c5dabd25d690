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
  /** The call under way; it is outdated once a poll was requested after it was sent. */
  #inFlight: { isOutdated: boolean } | null = null;
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

  /**
   * Begins with the ring's first token, or resumes after `pause`, no sooner than it would have polled without it. `sinceMs` is
   * when the call was sent whose list is shown.
   */
  resume(sinceMs = this.#startedAtMs): void {
    if (this.#inFlight) return;
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
    if (this.#inFlight) this.#inFlight.isOutdated = true;
    else this.#turn.soon();
  }

  #start(): void {
    const { clock } = this.#options;
    const member = this.#inFlight ? null : this.#ring.next(clock.now());
    if (member === null) return;
    const call = { isOutdated: false };
    this.#inFlight = call;
    this.#startedAtMs = clock.now();
    // One that fails by itself has failed as well, or the list would stand still for good.
    const failed = (error: unknown): PollOutcome => ({ kind: 'failed', error });
    const polling = this.#poll(member)
      .catch(failed)
      .then((outcome) => this.#polled(outcome, call.isOutdated));
    fireAndForget('live feed', polling);
  }

  #polled(outcome: PollOutcome, isOutdated: boolean): void {
    const { kind, error } = outcome;
    this.#inFlight = null;
    this.#options.onPoll?.(outcome);
    if (kind === 'failed') this.#retry.failed(error);
    else if (kind !== 'refused') this.#retry.succeeded();
    if (this.#ring.isEmpty) return;
    // A refusal is about the token alone: the next token polls immediately, so that no subscription misses a poll.
    if (kind === 'refused') this.#turn.soon();
    else if (kind === 'failed') this.#turn.at(this.#retry.untilMs);
    else if (isOutdated || this.#ring.unproved(this.#options.clock.now())) this.#turn.soon();
    else this.#planSteady();
  }

  #planSteady(): void {
    const { pollMs, random } = this.#options;
    // Jitter: a random phase keeps lists that began together from polling together.
    const phaseMs = this.#hasPhase ? 0 : pollMs * (random() - 0.5);
    this.#hasPhase = true;
    this.#turn.every(pollMs, this.#startedAtMs + phaseMs);
  }
}
