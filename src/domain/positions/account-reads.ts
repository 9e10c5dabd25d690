import type { Clock } from '../../../lib/clock.ts';
import type { PositionsAnswer, SessionAnswer } from '../../gateway/answers.ts';
import type { Position } from '../../gateway/model.ts';
import type { SnapshotPositions } from '../../gateway/wire/session.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { FeedState } from './feed-state.ts';
import type { PollScheduler, PollTurn } from './poll-scheduler.ts';
import { restMs } from './poller.ts';
import type { RingMember, TokenRing } from './token-ring.ts';

/** Op 10 for a feed, which like its polls must not be retried. */
export interface SessionSource {
  /** The snapshot that is cached for this token, where it may still be served. */
  cachedSession(viewer: Viewer): SessionAnswer | null;
  /** A snapshot that was requested after this logical time. */
  getSession(viewer: Viewer, after: number): Promise<SessionAnswer>;
}

export interface AccountReadsOptions {
  readonly source: SessionSource;
  readonly scheduler: PollScheduler;
  readonly clock: Clock;
  readonly logicalClock: { next(): number };
  readonly random: () => number;
  readonly pollMs: number;
  readonly pollMaxMs: number;
  readonly sessionMaxAgeMs: number;
  readonly gatewayTimeoutMs: number;
}

/** The part of a feed that the reads of its account use. */
export interface AccountReadsFeed {
  readonly state: FeedState;
  readonly ring: TokenRing;
  /** Called when the subscriptions that follow the account may have an event. */
  wake(): void;
  /** A list newer than the snapshot is needed. */
  pollNow(): void;
  /** Called with each answer, and with each failure; returns whether it ends the token. */
  answered(member: RingMember): void;
  failed(member: RingMember, error: unknown): boolean;
}

// However often the members change meanwhile, an event is withheld no longer than so many intervals.
const MOST_INTERVALS_WITHHELD = 4;
// The list that is polled at once may still lack what the snapshot says, and the next one an interval later.
const INTERVALS_UNTIL_GONE = 1.5;

/**
 * Decides when a feed reads op 10, and which snapshot it shows beside its list: one that was taken while the
 * list had the members that it has. While that read is under way the account's events are withheld, for one
 * interval at most, or an order that has become a position would be seen twice, or not at all.
 */
export class AccountReads {
  readonly #options: AccountReadsOptions;
  readonly #feed: AccountReadsFeed;
  readonly #turn: PollTurn;
  #followers = 0;
  #isInFlight = false;
  #isPlanned = false;
  /** Set while a read is wanted: the snapshot must have been requested after this logical time. */
  #after: number | null = null;
  #startedAtMs = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #restsUntilMs = Number.NEGATIVE_INFINITY;
  /** A snapshot that is not shown yet, because a list still to come decides whether it agrees. */
  #candidate: SessionAnswer | null = null;
  /** How often op 10 has disagreed with a list although nothing had changed in between. */
  #disagreements = 0;
  #retryAtMs = Number.POSITIVE_INFINITY;
  #hold: { readonly sinceMs: number; readonly cancel: () => void } | null = null;
  /** The members whose event waits no longer. */
  #releasedTime = -1;

  constructor(options: AccountReadsOptions, feed: AccountReadsFeed) {
    this.#options = options;
    this.#feed = feed;
    this.#turn = options.scheduler.join(() => this.#start());
  }

  /** `isLate` where a client resumes from before the last read. */
  join(viewer: Viewer, isLate: boolean): void {
    const { source, clock, pollMs, gatewayTimeoutMs } = this.#options;
    const { state } = this.#feed;
    this.#followers += 1;
    if (this.#followers === 1 && !this.#isYoung(state.session)) {
      const cached = source.cachedSession(viewer);
      if (cached !== null) this.#received(cached);
    }
    // Where all that is known is too old, the first event waits for the one read.
    const isFresh = this.#isYoung(state.session) && this.#after === null && !this.#isInFlight;
    if (!isFresh && this.#failures === 0 && this.#hold === null) {
      this.#withhold(this.#followers === 1 ? gatewayTimeoutMs : pollMs);
    }
    // Many clients that reconnect together share one read.
    if (isLate && clock.now() - this.#startedAtMs >= pollMs) this.#want();
    this.changed();
  }

  leave(): void {
    this.#followers -= 1;
    if (this.#followers > 0) return;
    this.#turn.leave();
    this.#isPlanned = false;
    this.#candidate = null;
    this.#release();
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
    if (this.#isUnsettled() && this.#mayRead() && this.#hold === null) this.#withholdMembers();
    if (this.#isDue()) this.#want();
    if (this.#after === null || this.#isInFlight || this.#isPlanned || !this.#mayRead()) return;
    this.#isPlanned = true;
    this.#turn.soon();
  }

  #want(): void {
    this.#after ??= this.#options.logicalClock.next();
  }

  #start(): void {
    const { clock, source } = this.#options;
    const after = this.#after;
    this.#isPlanned = false;
    if (after === null) return;
    const member = this.#feed.ring.next(clock.now());
    if (member === null) return;
    this.#isInFlight = true;
    this.#after = null;
    this.#startedAtMs = clock.now();
    void source
      .getSession(member.viewer, after)
      .then(
        (answer) => this.#answered(member, answer),
        (error: unknown) => this.#failed(member, error, after),
      )
      .finally(() => this.changed());
  }

  #answered(member: RingMember, answer: SessionAnswer): void {
    this.#isInFlight = false;
    this.#failures = 0;
    this.#restsUntilMs = Number.NEGATIVE_INFINITY;
    this.#received(answer);
    this.#feed.answered(member);
  }

  /** A refusal is about the token alone: the next token reads immediately. */
  #failed(member: RingMember, error: unknown, after: number): void {
    this.#isInFlight = false;
    this.#after ??= after;
    if (this.#feed.failed(member, error)) return;
    this.#failures += 1;
    this.#restsUntilMs = this.#options.clock.now() + restMs(this.#failures, error, this.#options);
    this.#release();
  }

  #received(answer: SessionAnswer): void {
    this.#judge(answer);
    // The read was answered in time; what it shows beyond the list has an interval of its own.
    if (this.#candidate !== null && this.#hold !== null) this.#withholdMembers();
  }

  /** Shows a snapshot unless a list still to come decides on it, and drops one that a change has made outdated. */
  #judge(answer: SessionAnswer): void {
    const { list, membersTime, session } = this.#feed.state;
    const { positions } = answer.session;
    const agrees = list !== null && sameMembers(positions, list.positions);
    this.#candidate = null;
    if (!agrees && (list === null || this.#mayBeBehind(list, answer))) {
      this.#candidate = answer;
      if (list !== null && list.logicalTime < answer.logicalTime) this.#feed.pollNow();
      return;
    }
    const isOutdated = !agrees && answer.logicalTime < membersTime;
    // Once the first event has waited long enough, any snapshot is better than none.
    if (isOutdated && (session !== null || this.#hold !== null)) return;
    const isDisputed = !agrees && !isOutdated && positions !== null;
    this.#disagreements = isDisputed ? this.#disagreements + 1 : 0;
    this.#show(answer);
  }

  /**
   * Whether a later list may have what the snapshot says and this one lacks. An order that leaves the one before it
   * appears in the other would be nowhere; once lists have lacked it for long enough it is believed to be gone.
   */
  #mayBeBehind(list: PositionsAnswer, answer: SessionAnswer): boolean {
    if (list.logicalTime < answer.logicalTime) return true;
    const { state } = this.#feed;
    const isEarly =
      list.sentAtMs < answer.receivedAtMs + INTERVALS_UNTIL_GONE * this.#options.pollMs;
    if (!isEarly || answer.logicalTime < state.membersTime) return false;
    const { orders, positions } = answer.session;
    const listed = new Set([...list.positions, ...(orders ?? state.orders)].map(({ id }) => id));
    const said = [...(positions?.ids ?? []), ...state.orders.map(({ id }) => id)];
    return said.some((id) => !listed.has(id));
  }

  #show(answer: SessionAnswer): void {
    const { clock, pollMs, sessionMaxAgeMs } = this.#options;
    // A gateway that goes on disagreeing with itself is asked less and less often.
    const retryMs = Math.min(sessionMaxAgeMs, pollMs * 2 ** (this.#disagreements - 1));
    this.#retryAtMs = this.#disagreements > 0 ? clock.now() + retryMs : Number.POSITIVE_INFINITY;
    const isNews = this.#feed.state.takeSession(answer);
    this.#release();
    if (isNews && this.#hold === null) this.#feed.wake();
  }

  /** Whether the list has had other members since the snapshot that is shown. */
  #isUnsettled(): boolean {
    const { list, session, membersTime } = this.#feed.state;
    if (list === null || session === null) return false;
    if (session.logicalTime > membersTime) return false;
    return !sameMembers(session.session.positions, list.positions);
  }

  #isDue(): boolean {
    if (this.#isInFlight || this.#candidate !== null) return false;
    const isRetryDue = this.#options.clock.now() >= this.#retryAtMs;
    return isRetryDue || !this.#isYoung(this.#feed.state.session) || this.#isUnsettled();
  }

  #isYoung(session: SessionAnswer | null): boolean {
    const { clock, sessionMaxAgeMs } = this.#options;
    return session !== null && clock.now() - session.receivedAtMs < sessionMaxAgeMs;
  }

  #mayRead(): boolean {
    return this.#options.clock.now() >= this.#restsUntilMs;
  }

  #withholdMembers(): void {
    const { pollMs, clock } = this.#options;
    const { membersTime } = this.#feed.state;
    if (this.#releasedTime === membersTime) return;
    const sinceMs = this.#hold?.sinceMs ?? clock.now();
    const leftMs = sinceMs + MOST_INTERVALS_WITHHELD * pollMs - clock.now();
    this.#withhold(Math.min(pollMs, leftMs));
  }

  #withhold(ms: number): void {
    const { clock } = this.#options;
    const sinceMs = this.#hold?.sinceMs ?? clock.now();
    this.#hold?.cancel();
    this.#hold = { sinceMs, cancel: clock.after(ms, () => this.#release()) };
    this.#feed.state.accountChanges.isWithheld = true;
  }

  #release(): void {
    if (this.#hold === null) return;
    this.#hold.cancel();
    this.#hold = null;
    this.#releasedTime = this.#feed.state.membersTime;
    this.#feed.state.accountChanges.isWithheld = false;
    this.#feed.wake();
  }
}

/**
 * Whether a snapshot was taken while the account had these positions, of these sizes. Null, for a snapshot
 * without a list, agrees with none. The interface promises no order; no list has an id twice.
 */
function sameMembers(snapshot: SnapshotPositions | null, list: readonly Position[]): boolean {
  if (snapshot === null || snapshot.ids.length !== list.length) return false;
  const { ids, units } = snapshot;
  if (list.every((position, at) => isSame(position, ids[at], units[at]))) return true;
  const byId = new Map(list.map((position) => [position.id, position]));
  return ids.every((id, at) => isSame(byId.get(id), id, units[at]));
}

/** A size that either of them lacks says nothing. */
function isSame(
  position: Position | undefined,
  id: string | undefined,
  units: number | null | undefined,
): boolean {
  if (position === undefined || position.id !== id) return false;
  return units == null || position.units === null || position.units === units;
}
