import type { PositionsAnswer } from '../../gateway/answers.ts';
import { GatewayError } from '../../gateway/errors.ts';
import { backoffMs } from '../../lib/backoff.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { PollScheduler, PollTurn } from './poll-scheduler.ts';
import { refusalOf, type TokenEndedError } from './token-ended-error.ts';
import type { RingMember, TokenRing } from './token-ring.ts';

/** Op 12, called once: an implementation must not retry. */
export interface PositionsSource {
  getOpenPositions(viewer: Viewer, previous: PositionsAnswer | null): Promise<PositionsAnswer>;
}

export interface PollerOptions {
  readonly source: PositionsSource;
  readonly scheduler: PollScheduler;
  readonly clock: Clock;
  readonly random: () => number;
  readonly pollMs: number;
  readonly pollMaxMs: number;
}

/** Callbacks of each poll; `refused` takes the token out of the ring. */
export interface PollerEvents {
  sent(): void;
  answered(member: RingMember, answer: PositionsAnswer): void;
  failed(error: unknown, failures: number): void;
  refused(member: RingMember, refusal: TokenEndedError): void;
}

/** Polls for one feed, with its tokens in round robin, one call at a time. */
export class Poller {
  readonly #options: PollerOptions;
  readonly #ring: TokenRing;
  readonly #events: PollerEvents;
  readonly #turn: PollTurn;
  #isRunning = false;
  #isInFlight = false;
  /** A poll was requested after the one in flight was sent. */
  #isRepollRequested = false;
  #hasSent = false;
  /** False until the first answer: the interval has no phase yet. */
  #hasPhase = false;
  #failures = 0;
  #startedAtMs = Number.NEGATIVE_INFINITY;
  #restsUntilMs = Number.NEGATIVE_INFINITY;
  #previous: PositionsAnswer | null = null;

  constructor(options: PollerOptions, ring: TokenRing, events: PollerEvents) {
    this.#options = options;
    this.#ring = ring;
    this.#events = events;
    this.#turn = options.scheduler.join(() => this.#poll());
  }

  /** Whether a call has been sent; until then only our own rate ceiling delays the first list. */
  get hasSent(): boolean {
    return this.#hasSent;
  }

  /** `previous` is an answer to another caller, with which the first one is compared. */
  begin(previous: PositionsAnswer | null): void {
    this.#previous = previous;
    this.#isRunning = true;
    if (previous === null) this.#turn.soon();
    else this.#planSteady(previous.sentAtMs);
  }

  /** Resumes after `pause`, no sooner than it would have polled without it. */
  resume(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    if (this.#isInFlight) return;
    const rhythmMs = this.#startedAtMs + this.#options.pollMs;
    const dueMs = Math.max(rhythmMs, this.#restsUntilMs);
    if (dueMs <= this.#options.clock.now()) this.#turn.soon();
    else this.#turn.at(dueMs);
  }

  pause(): void {
    this.#isRunning = false;
    this.#isRepollRequested = false;
    this.#turn.leave();
  }

  /** The list has surely changed. A gateway that asked for a pause is not polled before its end. */
  pollNow(): void {
    if (!this.#isRunning || this.#failures > 0) return;
    if (this.#isInFlight) this.#isRepollRequested = true;
    else this.#turn.soon();
  }

  #poll(): void {
    const { clock, source } = this.#options;
    const member = this.#isInFlight ? null : this.#ring.next(clock.now());
    if (member === null) return;
    this.#isInFlight = true;
    this.#isRepollRequested = false;
    this.#startedAtMs = clock.now();
    this.#hasSent = true;
    this.#events.sent();
    // A source that throws synchronously is a failed poll like any other.
    Promise.resolve()
      .then(() => source.getOpenPositions(member.viewer, this.#previous))
      .then(
        (answer) => this.#answered(member, answer),
        (error: unknown) => this.#failed(member, error),
      );
  }

  #answered(member: RingMember, answer: PositionsAnswer): void {
    this.#isInFlight = false;
    this.#failures = 0;
    this.#restsUntilMs = Number.NEGATIVE_INFINITY;
    this.#previous = answer;
    this.#events.answered(member, answer);
    this.#plan();
  }

  #failed(member: RingMember, error: unknown): void {
    this.#isInFlight = false;
    const refusal = refusalOf(error);
    if (refusal !== null) {
      // A refusal is about the token alone: the next token polls immediately, so that no subscription misses a poll.
      this.#events.refused(member, refusal);
      if (this.#isRunning) this.#turn.soon();
      return;
    }
    this.#failures += 1;
    this.#restsUntilMs = this.#options.clock.now() + this.#restMs(error);
    this.#events.failed(error, this.#failures);
    this.#plan();
  }

  #plan(): void {
    if (!this.#isRunning || this.#isInFlight) return;
    if (this.#failures > 0) this.#turn.at(this.#restsUntilMs);
    else if (this.#isRepollRequested || this.#ring.unproved(this.#options.clock.now()))
      this.#turn.soon();
    else this.#planSteady(this.#startedAtMs);
  }

  #planSteady(sinceMs: number): void {
    const { pollMs, random } = this.#options;
    // Jitter: a random phase keeps feeds that began together from polling together.
    const phaseMs = this.#hasPhase ? 0 : pollMs * (random() - 0.5);
    this.#hasPhase = true;
    this.#turn.every(pollMs, sinceMs + phaseMs);
  }

  /** Jitter is added to the gateway's Retry-After, never subtracted; no wait exceeds the ceiling. */
  #restMs(error: unknown): number {
    const { pollMs, pollMaxMs, random } = this.#options;
    const ownMs = backoffMs(this.#failures, { baseMs: pollMs, maxMs: pollMaxMs, random });
    const retryAfterSeconds = error instanceof GatewayError ? error.retryAfterSeconds : null;
    if (retryAfterSeconds === null) return ownMs;
    return Math.min(pollMaxMs, Math.max(ownMs, retryAfterSeconds * 1000 + random() * pollMs));
  }
}
