import type { FeedOptions } from './feed-options.ts';
import type { PollTurn } from './poll-scheduler.ts';
import { Rest, type RestOptions } from './rest.ts';
import type { RingMember, TokenRing } from './token-ring.ts';

/** A poll's outcome, which decides when the next one is due. A refusal concerns one token, a failure the gateway. */
export type PollOutcome =
  | { readonly kind: 'answered' | 'refused' }
  | { readonly kind: 'failed'; readonly error: unknown };

type PollerOptions = RestOptions & Pick<FeedOptions, 'scheduler'>;
type Poll = (member: RingMember) => Promise<PollOutcome>;

/** Decides when a feed polls, and with which of its tokens: in round robin, one call at a time. */
export class Poller {
  readonly #options: PollerOptions;
  readonly #ring: TokenRing;
  readonly #poll: Poll;
  readonly #turn: PollTurn;
  readonly #rest: Rest;
  #isRunning = false;
  /** The call under way; it is outdated once a poll was requested after it was sent. */
  #inFlight: { isOutdated: boolean } | null = null;
  /** False until the first answer: the interval has no phase yet. */
  #hasPhase = false;
  #startedAtMs = Number.NEGATIVE_INFINITY;

  /** `poll` makes one call; it must not reject. */
  constructor(options: PollerOptions, ring: TokenRing, poll: Poll) {
    this.#options = options;
    this.#ring = ring;
    this.#poll = poll;
    this.#rest = new Rest(options);
    this.#turn = options.scheduler.join(() => this.#start());
  }

  /** `answeredSinceMs` is when the call was sent whose answer the feed begins with, if it has one. */
  begin(answeredSinceMs: number | null): void {
    this.#isRunning = true;
    if (answeredSinceMs === null) this.#turn.soon();
    else this.#planSteady(answeredSinceMs);
  }

  /** Resumes after `pause`, no sooner than it would have polled without it. */
  resume(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    if (this.#inFlight) return;
    const rhythmMs = this.#startedAtMs + this.#options.pollMs;
    const dueMs = Math.max(rhythmMs, this.#rest.untilMs);
    if (dueMs <= this.#options.clock.now()) this.#turn.soon();
    else this.#turn.at(dueMs);
  }

  pause(): void {
    this.#isRunning = false;
    this.#turn.leave();
  }

  /** The list has surely changed. A gateway that asked for a pause is not polled before its end. */
  pollNow(): void {
    if (!this.#isRunning || this.#rest.hasFailed) return;
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
    void this.#poll(member).then((outcome) => this.#polled(outcome, call.isOutdated));
  }

  #polled(outcome: PollOutcome, isOutdated: boolean): void {
    this.#inFlight = null;
    if (outcome.kind === 'answered') this.#rest.succeeded();
    else if (outcome.kind === 'failed') this.#rest.failed(outcome.error);
    if (this.#isRunning) this.#plan(outcome, isOutdated);
  }

  #plan({ kind }: PollOutcome, isOutdated: boolean): void {
    // A refusal is about the token alone: the next token polls immediately, so that no subscription misses a poll.
    if (kind === 'refused') this.#turn.soon();
    else if (kind === 'failed') this.#turn.at(this.#rest.untilMs);
    else if (isOutdated || this.#ring.unproved(this.#options.clock.now())) this.#turn.soon();
    else this.#planSteady(this.#startedAtMs);
  }

  #planSteady(sinceMs: number): void {
    const { pollMs, random } = this.#options;
    // Jitter: a random phase keeps feeds that began together from polling together.
    const phaseMs = this.#hasPhase ? 0 : pollMs * (random() - 0.5);
    this.#hasPhase = true;
    this.#turn.every(pollMs, sinceMs + phaseMs);
  }
}
