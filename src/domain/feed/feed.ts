import type { PositionsAnswer } from '../../gateway/answers.ts';
import { GatewayError } from '../../gateway/errors.ts';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import type { AccountProof } from '../auth/proof.ts';
import { polling, type Viewer } from '../auth/viewer.ts';
import type { FeedOptions, PollOutcome } from './feed-options.ts';
import { FeedState, type FeedStatus } from './feed-state.ts';
import type { PollTurn } from './poll-schedule.ts';
import { RetryPause } from './retry-pause.ts';
import { SessionReads } from './session-reads.ts';
import type { Subscription } from './subscription.ts';
import { type RotatedToken, TokenRotation } from './token-rotation.ts';

/** A feed is kept for so long after its last subscription ended, for clients that reconnect. */
const LINGER_MS = 10_000;

/** One account's feed, polled with its subscriptions' tokens in turn, one call at a time. */
export class Feed {
  readonly state: FeedState;
  readonly #options: FeedOptions;
  readonly #proof: AccountProof;
  readonly #tokens: TokenRotation;
  readonly #turn: PollTurn;
  readonly #retry: RetryPause;
  /** Null until somebody follows orders or session. */
  #sessionReads: SessionReads | null = null;
  /** The time of the last call. */
  #startedAtMs = Number.NEGATIVE_INFINITY;
  #isInFlight = false;
  /** Another poll was asked for after the call under way was sent. */
  #isOutdated = false;
  /** The interval has no phase until the first answer. */
  #hasPhase = false;
  #lastFailure: Error | null = null;
  #cancelLinger = () => {};

  constructor(proof: AccountProof, options: FeedOptions, onClosed: () => void) {
    this.#options = options;
    this.#proof = proof;
    this.state = new FeedState(options.clock);
    this.#tokens = new TokenRotation(options, () => {
      this.#turn.leave();
      this.#cancelLinger = options.clock.after(LINGER_MS, onClosed);
    });
    this.#turn = options.schedule.join(() => this.#start());
    this.#retry = new RetryPause(options);
  }

  get isPolled(): boolean {
    return !this.#tokens.isEmpty;
  }

  get subscriptionCount(): number {
    return this.#tokens.subscriptionCount;
  }

  join(subscription: Subscription): void {
    this.#cancelLinger();
    const isAlone = this.#tokens.isEmpty;
    this.#tokens.join(subscription);
    if (isAlone) this.#begin(subscription.viewer);
    this.#expectList();
    if (!subscription.isAccount) return;
    const { account } = this.#proof;
    this.#sessionReads ??= new SessionReads(this.#options, account, this.state, this.#tokens);
    this.#sessionReads.join(subscription);
  }

  leave(subscription: Subscription): void {
    if (subscription.isAccount) this.#sessionReads?.leave(subscription);
    this.#tokens.leave(subscription);
  }

  maySend(viewer: Viewer): boolean {
    return this.#tokens.maySend(viewer);
  }

  isHeld({ isAccount, hasBegun }: Subscription): boolean {
    return isAccount && !hasBegun && (this.#sessionReads?.isPending ?? false);
  }

  /** The live list, where it is as new as a poll would be. */
  current({ account }: Viewer): PositionsAnswer | null {
    return this.state.status === 'LIVE' ? this.#ifCurrent(account, this.state.list) : null;
  }

  /** Shows a list that another call than a poll has brought. */
  served(list: PositionsAnswer): void {
    this.#publish(this.state.status, list);
  }

  /** Polls at once, because an order has changed the account. A gateway that asked for a pause is not polled before its end. */
  accountChanged(): void {
    this.#sessionReads?.plan();
    if (this.#tokens.isEmpty || this.#retry.failures > 0) return;
    if (this.#isInFlight) this.#isOutdated = true;
    else this.#turn.soon();
  }

  close(): void {
    this.#tokens.close();
    this.#cancelLinger();
  }

  /** Begins with a list that a query was just served, or resumes after a linger, no sooner than it would have polled without it. */
  #begin(viewer: Viewer): void {
    const { clock, board, pollMs } = this.#options;
    const newest = this.state.list === null ? board.newest(viewer, this.#proof) : null;
    const known = this.#ifCurrent(viewer.account, newest);
    if (known !== null) this.#publish('LIVE', known);
    if (this.#isInFlight) return;
    const sinceMs = known?.sentAtMs ?? this.#startedAtMs;
    const dueMs = Math.max(sinceMs + pollMs, this.#retry.untilMs);
    if (dueMs <= clock.now()) this.#turn.soon();
    else this.#turn.at(dueMs, this.#retry.failures > 0 ? this.#retry.askedUntilMs : dueMs);
  }

  /** The time counts from the first call: waiting for our own ceiling is not the gateway's fault. */
  #expectList(): void {
    if (this.state.list !== null || !Number.isFinite(this.#startedAtMs)) return;
    const failure = () =>
      this.#lastFailure ??
      new GatewayError('timeout', 'getOpenPositions', 'no first list within the deadline');
    this.#tokens.forEachSubscription((each) => each.expectList(this.#options.firstListMs, failure));
  }

  #start(): void {
    const { clock } = this.#options;
    const token = this.#isInFlight ? null : this.#tokens.next(clock.now());
    if (token === null) return;
    this.#isInFlight = true;
    this.#isOutdated = false;
    this.#startedAtMs = clock.now();
    this.#expectList();
    const polling = this.#poll(token)
      // A failure behind the call is a failed poll too, or the feed would stand still for good.
      .catch((error: unknown): PollOutcome => ({ kind: 'failed', error }))
      .then((outcome) => this.#polled(outcome));
    fireAndForget('live feed', polling);
  }

  /** One poll, from its call to the subscriptions that its answer wakes. */
  async #poll(token: RotatedToken): Promise<PollOutcome> {
    let answer: PositionsAnswer | null;
    try {
      answer = await this.#read(token.viewer);
    } catch (error) {
      if (this.#tokens.isRefused(token, error)) return { kind: 'refused' };
      this.#lastFailure = error instanceof Error ? error : new Error(String(error));
      this.#publish('DELAYED', null);
      return { kind: 'failed', error };
    }
    const { rows } = this.state;
    // A call sent later may have been answered sooner: then its list is shown.
    this.#publish('LIVE', answer);
    this.#tokens.accepted(token);
    return { kind: this.state.rows === rows ? 'unchanged' : 'changed' };
  }

  async #read(viewer: Viewer): Promise<PositionsAnswer | null> {
    const { gateway, board, freshness } = this.#options;
    // Not awaited: where another replica's order has changed the account, it is polled once more.
    fireAndForget('other replicas', freshness.catchUp(viewer.account));
    // An answer with the bytes of the list that is shown need not be parsed.
    const answer = await gateway.getOpenPositions(polling(viewer), this.state.list);
    return board.offer(viewer, answer, this.#proof);
  }

  #polled(outcome: PollOutcome): void {
    const { random, onPoll, schedule, pollMs } = this.#options;
    const { kind, error } = outcome;
    this.#isInFlight = false;
    onPoll?.(outcome);
    if (kind === 'failed') this.#retry.failed(error);
    else if (kind !== 'refused') {
      this.#retry.succeeded();
      schedule.answered(pollMs);
    }
    if (this.#tokens.isEmpty) return;
    // A refusal is about the token alone: the next token polls immediately, so that no subscription misses a poll.
    const isDue = kind === 'refused' || this.#isOutdated || this.#tokens.hasUnproved;
    if (kind === 'failed') this.#turn.at(this.#retry.untilMs, this.#retry.askedUntilMs);
    else if (isDue) this.#turn.soon();
    else {
      // Jitter: a random phase keeps feeds that began together from polling together.
      const phaseMs = this.#hasPhase ? 0 : pollMs * (random() - 0.5);
      this.#hasPhase = true;
      this.#turn.every(pollMs, this.#startedAtMs + phaseMs);
    }
  }

  /** Shows a list unless it shows a newer one. Wakes the subscriptions where that changes anything for them. */
  #publish(status: FeedStatus, list: PositionsAnswer | null): void {
    const isChanged = this.state.take(status, list);
    this.#sessionReads?.plan();
    if (isChanged) this.#tokens.forEachSubscription((each) => each.wake());
  }

  /** The list, where it was received within the poll interval, and since the account's last order. */
  #ifCurrent(
    account: AccountProof['account'],
    list: PositionsAnswer | null,
  ): PositionsAnswer | null {
    const { freshness, clock, pollMs } = this.#options;
    if (list === null || list.logicalTime <= freshness.changedAt(account)) return null;
    // Its receipt counts: a gateway that takes longer than an interval would be asked by each query besides.
    return clock.now() - list.receivedAtMs < pollMs ? list : null;
  }
}
