import { fireAndForget } from '../../../lib/fire-and-forget.ts';
import type { LiveList } from '../../../lib/live/live-list.ts';
import type { PollTurn } from '../../../lib/live/poll-scheduler.ts';
import { RetryPause } from '../../../lib/live/retry-pause.ts';
import type { SessionAnswer } from '../../gateway/answers.ts';
import { type AwaitedOrders, NO_AWAITED_ORDERS, ordersLeft, relate } from '../account/relation.ts';
import type { Viewer } from '../auth/viewer.ts';
import { createEventHold } from './event-hold.ts';
import type { FeedOptions } from './feed-options.ts';
import { AccountReader, type State } from './feed-state.ts';

/**
 * Decides when a feed reads op 10, and which snapshot it shows beside its list: one that was taken while the
 * list had the members that it has. While that read is under way the account's events are withheld.
 */
export class AccountReads {
  readonly #options: FeedOptions;
  readonly #feed: LiveList<Viewer, State>;
  readonly #turn: PollTurn;
  readonly #retry: RetryPause;
  readonly #hold: ReturnType<typeof createEventHold>;
  #followers = 0;
  #isReading = false;
  /** Set while a read is wanted: the snapshot must have been requested after this logical time. */
  #after: number | null = null;
  #startedAtMs = Number.NEGATIVE_INFINITY;
  /** A snapshot that is not shown yet, because a list still to come decides whether it agrees. */
  #candidate: SessionAnswer | null = null;
  /** The orders that are shown, or were lately, and which snapshots no longer have. */
  #left = NO_AWAITED_ORDERS;
  /** How often op 10 has differed from a list although nothing had changed in between, and when it is asked again. */
  #dispute = UNDISPUTED;

  constructor(options: FeedOptions, feed: LiveList<Viewer, State>) {
    this.#options = options;
    this.#feed = feed;
    this.#turn = options.scheduler.join(() => this.#start());
    this.#retry = new RetryPause(options);
    this.#hold = createEventHold(options, feed.state, () => this.#wake());
  }

  /** `isLate` where a client resumes from before the snapshot that is shown. */
  join(viewer: Viewer, isLate: boolean): void {
    const { sessions, clock, pollMs, firstListMs } = this.#options;
    this.#followers += 1;
    const isFirst = this.#followers === 1;
    const cached = isFirst && !this.#isYoung ? sessions.cached(viewer) : null;
    if (cached !== null) this.#received(cached);
    // Where all that is known is too old, the first event waits for the one read.
    const isFresh = this.#isYoung && this.#after === null && !this.#isReading;
    if (!isFresh && this.#retry.failures === 0 && !this.#feed.state.isWithheld) {
      this.#hold.withhold(isFirst ? firstListMs : pollMs);
    }
    // Many clients that reconnect together share one read.
    if (isLate && clock.now() - this.#startedAtMs >= pollMs) this.#want();
    this.changed();
  }

  leave(): void {
    this.#followers -= 1;
    if (this.#followers > 0) return;
    this.#turn.leave();
    this.#candidate = null;
    this.#hold.release();
  }

  /** The account has surely changed, as after an order: a snapshot requested before does not show it. */
  accountChanged(): void {
    this.#want();
    this.changed();
  }

  /** Called with each poll's answer, and with each list that is shown. */
  changed(): void {
    if (this.#followers === 0) return;
    if (this.#candidate !== null) this.#judge(this.#candidate);
    const isUnsettled = this.#isUnsettled();
    if (isUnsettled && this.#retry.isOver && !this.#feed.state.isWithheld)
      this.#hold.withholdMembers();
    const isDue =
      isUnsettled || !this.#isYoung || this.#options.clock.now() >= this.#dispute.retryAtMs;
    if (isDue && !this.#isReading && this.#candidate === null) this.#want();
    if (this.#after !== null && !this.#isReading && this.#retry.isOver) this.#turn.soon();
  }

  #want(): void {
    this.#after ??= this.#options.logicalClock.next();
  }

  #start(): void {
    const { clock, sessions } = this.#options;
    const after = this.#after;
    const token = after === null ? null : this.#feed.tokens.next(clock.now());
    if (after === null || token === null) return;
    this.#isReading = true;
    this.#after = null;
    this.#startedAtMs = clock.now();
    const reading = sessions
      .poll(token.viewer, after)
      .then(
        (answer) => {
          this.#isReading = false;
          this.#retry.succeeded();
          this.#received(answer);
          this.#feed.tokens.accepted(token);
        },
        (error: unknown) => {
          this.#isReading = false;
          this.#after ??= after;
          // A refusal is about the token alone: the next token reads immediately.
          if (this.#feed.tokens.isRefused(token, error)) return;
          this.#retry.failed(error);
          this.#hold.release();
        },
      )
      .finally(() => this.changed());
    fireAndForget('live feed', reading);
  }

  #received(answer: SessionAnswer): void {
    const { sessionMaxAgeMs } = this.#options;
    this.#left = ordersLeft(this.#left, this.#feed.state.orders.rows, answer, sessionMaxAgeMs);
    this.#judge(answer);
    // The read was answered in time; what it shows beyond the list has an interval of its own.
    if (this.#candidate !== null && this.#feed.state.isWithheld) this.#hold.withholdMembers();
  }

  /** Shows a snapshot unless a list still to come decides on it, and drops one that a change has made outdated. */
  #judge(answer: SessionAnswer): void {
    const { list, session } = this.#feed.state;
    const relation = this.#relate(answer, awaitedOf(answer, this.#left));
    const isListOlder = list === null || list.logicalTime < answer.logicalTime;
    const isAwaited = relation === 'list-behind' || relation === 'snapshot-behind';
    this.#candidate = null;
    if (isAwaited || (isListOlder && relation !== 'agree')) {
      this.#candidate = answer;
      if (list !== null && isListOlder) this.#feed.pollNow();
      return;
    }
    // Once the first event has waited long enough, any snapshot is better than none.
    const isDropped =
      relation === 'snapshot-outdated' && (session !== null || this.#feed.state.isWithheld);
    if (!isDropped) this.#show(answer, relation === 'differ' && answer.session.positions !== null);
  }

  #show(answer: SessionAnswer, isDisputed: boolean): void {
    const { clock, pollMs, sessionMaxAgeMs } = this.#options;
    const times = this.#dispute.times + 1;
    // A gateway that goes on disagreeing with itself is asked less and less often.
    const retryMs = Math.min(sessionMaxAgeMs, pollMs * 2 ** (times - 1));
    this.#dispute = isDisputed ? { times, retryAtMs: clock.now() + retryMs } : UNDISPUTED;
    const isNews = this.#feed.state.takeSession(answer);
    this.#hold.release();
    if (isNews) this.#wake();
  }

  #wake(): void {
    for (const subscription of this.#feed.tokens.subscriptions)
      if (subscription.watching.reader instanceof AccountReader) subscription.wake();
  }

  /** Null before the first list. */
  #relate(answer: SessionAnswer, awaited: AwaitedOrders) {
    const { list, membersTime } = this.#feed.state;
    return list && relate({ ...list, membersTime }, answer, awaited, this.#options.clock.now());
  }

  /** Whether the list has had other members since the snapshot that is shown. */
  #isUnsettled(): boolean {
    const { session } = this.#feed.state;
    return session !== null && this.#relate(session, NO_AWAITED_ORDERS) === 'snapshot-outdated';
  }

  get #isYoung(): boolean {
    const { clock, sessionMaxAgeMs } = this.#options;
    const { session } = this.#feed.state;
    return session !== null && clock.now() - session.receivedAtMs < sessionMaxAgeMs;
  }
}

const UNDISPUTED = { times: 0, retryAtMs: Number.POSITIVE_INFINITY };

/** The positions of a snapshot may not be in the list yet, as orders that have left it may not. */
function awaitedOf({ session, receivedAtMs }: SessionAnswer, left: AwaitedOrders): AwaitedOrders {
  const ids = session.positions?.ids ?? [];
  return new Map([...ids.map((id) => [id, receivedAtMs] as const), ...left]);
}
