import type { PositionsAnswer } from '../../gateway/answers.ts';
import { GatewayError } from '../../gateway/errors.ts';
import { backoffMs } from '../../lib/backoff.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { PollScheduler, PollTurn } from './poll-scheduler.ts';
import { refusalOf, type TokenEndedError } from './token-ended-error.ts';
import type { RingMember, TokenRing } from './token-ring.ts';

/** Op 12, called once and never repeated by whoever stands behind this. */
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

/** Told of each poll; `refused` takes the token out of the ring. */
export interface PollerEvents {
  sent(): void;
  answered(member: RingMember, answer: PositionsAnswer): void;
  failed(error: unknown, failures: number): void;
  refused(member: RingMember, refusal: TokenEndedError): void;
}

/** Polls for one feed, with its tokens in turn, one call at a time. */
export class Poller {
  readonly #options: PollerOptions;
  readonly #ring: TokenRing;
  readonly #events: PollerEvents;
  readonly #turn: PollTurn;
  #isRunning = false;
  #isInFlight = false;
  /** Something happened after the call under way was sent. */
  #isAskedAgain = false;
  #hasSent = false;
  /** Until the first answer the rhythm has no phase yet. */
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

  /** Whether it has ever called; until then only our own ceiling keeps the first list away. */
  get hasSent(): boolean {
    return this.#hasSent;
  }

  /** An answer that somebody else has had, to compare the first one with. */
  begin(previous: PositionsAnswer | null): void {
    this.#previous = previous;
    this.#isRunning = true;
    if (previous === null) this.#turn.soon();
    else this.#planSteady(previous.sentAtMs);
  }

  /** Goes on after `pause`, no sooner than it would have polled without it. */
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
    this.#isAskedAgain = false;
    this.#turn.leave();
  }

  /** The list has surely changed. A gateway that asked to be left alone is not asked the sooner for it. */
  pollNow(): void {
    if (!this.#isRunning || this.#failures > 0) return;
    if (this.#isInFlight) this.#isAskedAgain = true;
    else this.#turn.soon();
  }

  #poll(): void {
    const { clock, source } = this.#options;
    const member = this.#isInFlight ? null : this.#ring.next(clock.now());
    if (member === null) return;
    this.#isInFlight = true;
    this.#isAskedAgain = false;
    this.#startedAtMs = clock.now();
    this.#hasSent = true;
    this.#events.sent();
    // A source that throws at once is a failed poll like any other.
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
      // It says nothing about the account: the next token goes at once, and nobody misses a poll.
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
    else if (this.#isAskedAgain || this.#ring.unproved(this.#options.clock.now()))
      this.#turn.soon();
    else this.#planSteady(this.#startedAtMs);
  }

  #planSteady(sinceMs: number): void {
    const { pollMs, random } = this.#options;
    // A random phase, or all feeds that began together would poll together for ever.
    const phaseMs = this.#hasPhase ? 0 : pollMs * (random() - 0.5);
    this.#hasPhase = true;
    this.#turn.every(pollMs, sinceMs + phaseMs);
  }

  /** Chance is added to what the gateway asks for, never taken off; no wish outlasts the ceiling. */
  #restMs(error: unknown): number {
    const { pollMs, pollMaxMs, random } = this.#options;
    const ownMs = backoffMs(this.#failures, { baseMs: pollMs, maxMs: pollMaxMs, random });
    const asked = error instanceof GatewayError ? error.retryAfterSeconds : null;
    if (asked === null) return ownMs;
    return Math.min(pollMaxMs, Math.max(ownMs, asked * 1000 + random() * pollMs));
  }
}
