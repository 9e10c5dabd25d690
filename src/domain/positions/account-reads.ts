import { fireAndForget } from '../../../lib/fire-and-forget.ts';
import type { LiveList } from '../../../lib/live/live-list.ts';
import { RetryPause } from '../../../lib/live/retry-pause.ts';
import type { SessionAnswer } from '../../gateway/answers.ts';
import { type AwaitedOrders, NO_AWAITED_ORDERS, ordersLeft, relate } from '../account/relation.ts';
import type { Viewer } from '../auth/viewer.ts';
import { createEventHold } from './event-hold.ts';
import type { FeedOptions } from './feed-options.ts';
import { AccountReader, type State } from './feed-state.ts';

export type AccountReads = ReturnType<typeof createAccountReads>;

/**
 * Decides when a feed reads op 10, and which snapshot it shows beside its list: one that was taken while the
 * list had the members that it has. While that read is under way the account's events are withheld.
 */
export function createAccountReads(options: FeedOptions, feed: LiveList<Viewer, State>) {
  const { sessions, clock, logicalClock, pollMs, firstListMs, sessionMaxAgeMs } = options;
  // A poll may come a little early, and the lists' polls set the pace.
  const figuresMs = Math.max(options.sessionPollMs, pollMs) - pollMs / 10;
  const { state, tokens } = feed;
  const turn = options.scheduler.join(start);
  const retry = new RetryPause(options);
  const hold = createEventHold(options, state, wake);
  let followers = 0;
  /** The followers of the session's figures, for whom it is read more often. */
  let figureFollowers = 0;
  let isReading = false;
  /** Set while a read is wanted: the snapshot must have been requested after this logical time. */
  let wantedAfter: number | null = null;
  let startedAtMs = Number.NEGATIVE_INFINITY;
  /** A snapshot that is not shown yet, because a list still to come decides whether it agrees. */
  let candidate: SessionAnswer | null = null;
  /** The orders that are shown, or were lately, and which snapshots no longer have. */
  let left = NO_AWAITED_ORDERS;
  /** How often op 10 has differed from a list although nothing had changed in between, and when it is asked again. */
  let dispute = UNDISPUTED;

  /** Called with each poll's answer, and with each list that is shown. */
  function changed(): void {
    if (followers === 0) return;
    if (candidate !== null) judge(candidate);
    const isUnsettled = isSessionOutdated();
    if (isUnsettled && retry.isOver && !state.isWithheld) hold.withholdMembers();
    const isOld = figureFollowers > 0 && !isYoung(figuresMs * options.scheduler.stretch());
    const isDue = isUnsettled || isOld || !isYoung() || clock.now() >= dispute.retryAtMs;
    if (isDue && !isReading && candidate === null) want();
    if (wantedAfter !== null && !isReading && retry.isOver) turn.soon();
  }

  function want(): void {
    wantedAfter ??= logicalClock.next();
  }

  function start(): void {
    const after = wantedAfter;
    const token = after === null ? null : tokens.next(clock.now());
    if (after === null || token === null) return;
    isReading = true;
    wantedAfter = null;
    startedAtMs = clock.now();
    const reading = sessions
      .poll(token.viewer, after)
      .then(
        (answer) => {
          isReading = false;
          retry.succeeded();
          const beganAtMs = options.uptimeMs();
          received(answer);
          const { workMs = 0 } = answer;
          if (workMs > 0) feed.worked(workMs + options.uptimeMs() - beganAtMs);
          tokens.accepted(token);
        },
        (error: unknown) => {
          isReading = false;
          wantedAfter ??= after;
          // A refusal is about the token alone: the next token reads immediately.
          if (tokens.isRefused(token, error)) return;
          retry.failed(error);
          hold.release();
        },
      )
      .finally(changed);
    fireAndForget('live feed', reading);
  }

  function received(answer: SessionAnswer): void {
    left = ordersLeft(left, state.orders.rows, answer, sessionMaxAgeMs);
    judge(answer);
    // The read was answered in time; what it shows beyond the list has an interval of its own.
    if (candidate !== null && state.isWithheld) hold.withholdMembers();
  }

  /** Shows a snapshot unless a list still to come decides on it, and drops one that a change has made outdated. */
  function judge(answer: SessionAnswer): void {
    const { list, session } = state;
    const relation = relationOf(answer, left, true);
    const isListOlder = list === null || list.logicalTime < answer.logicalTime;
    const isAwaited = relation === 'list-behind' || relation === 'snapshot-behind';
    candidate = null;
    if (isAwaited || (isListOlder && relation !== 'agree')) {
      candidate = answer;
      if (list !== null && isListOlder) feed.pollNow();
      return;
    }
    // Once the first event has waited long enough, any snapshot is better than none.
    const isDropped = relation === 'snapshot-outdated' && (session !== null || state.isWithheld);
    if (!isDropped) show(answer, relation === 'differ' && answer.session.positions !== null);
  }

  function show(answer: SessionAnswer, isDisputed: boolean): void {
    const times = dispute.times + 1;
    // A gateway that goes on disagreeing with itself is asked less and less often.
    const retryMs = Math.min(sessionMaxAgeMs, pollMs * 2 ** (times - 1));
    dispute = isDisputed ? { times, retryAtMs: clock.now() + retryMs } : UNDISPUTED;
    const isNews = state.takeSession(answer);
    hold.release();
    if (isNews) wake();
  }

  function wake(): void {
    tokens.forEachSubscription((each) => {
      if (each.watching.reader instanceof AccountReader) each.wake();
    });
  }

  /** Null before the first list. */
  function relationOf(answer: SessionAnswer, awaited: AwaitedOrders, awaitsPositions = false) {
    const { list, membersTime } = state;
    return list && relate({ ...list, membersTime }, answer, awaited, clock.now(), awaitsPositions);
  }

  /** Whether the list has had other members since the snapshot that is shown. */
  function isSessionOutdated(): boolean {
    const { session } = state;
    return session !== null && relationOf(session, NO_AWAITED_ORDERS) === 'snapshot-outdated';
  }

  function isYoung(ageMs = sessionMaxAgeMs): boolean {
    const { session } = state;
    return session !== null && clock.now() - session.receivedAtMs < ageMs;
  }

  function leave(figures: boolean): void {
    followers -= 1;
    if (figures) figureFollowers -= 1;
    if (figureFollowers === 0) turn.demand(0);
    if (followers > 0) return;
    turn.leave();
    candidate = null;
    hold.release();
  }

  return {
    /** `isLate` where a client resumes from before the snapshot that is shown. Returns what its end calls. */
    join(viewer: Viewer, isLate: boolean, figures: boolean): () => void {
      followers += 1;
      if (figures) figureFollowers += 1;
      if (figures) turn.demand(1000 / figuresMs);
      const isFirst = followers === 1;
      const cached = isFirst && !isYoung() ? sessions.cached(viewer) : null;
      if (cached !== null) received(cached);
      // The first event waits for the one read where all that is known is too old.
      const isFresh = isYoung() && wantedAfter === null && !isReading;
      if (!isFresh && retry.failures === 0 && !state.isWithheld) {
        hold.withhold(isFirst ? firstListMs : pollMs);
      }
      // Many clients that reconnect together share one read.
      if (isLate && clock.now() - startedAtMs >= pollMs) want();
      changed();
      return () => leave(figures);
    },
    /** The account has surely changed, as after an order: a snapshot requested before does not show it. */
    accountChanged(): void {
      want();
      changed();
    },
    changed,
  };
}

const UNDISPUTED = { times: 0, retryAtMs: Number.POSITIVE_INFINITY };
