import { GatewayError } from '../../gateway/gateway-error.ts';
import { ACCOUNT, type Account } from '../../lib/account.ts';
import { memo } from '../../lib/caches.ts';
import type { Clock } from '../../lib/clock.ts';
import type { EventIterator } from '../../lib/event-iterator.ts';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import type { AccountProof, ProofLedger } from '../auth/proof.ts';
import { lasting, type Viewer } from '../auth/viewer.ts';
import { RetryPause } from '../retry-pause.ts';
import type { FeedStatus, Identified, ListAnswer, ListEvent, ListState } from './list-state.ts';
import type { PollSchedule, ScheduledPoll } from './poll-schedule.ts';
import {
  type FeedSubscription,
  type SubscribedFeed,
  Subscription,
  type WatchOptions,
} from './subscription.ts';
import { type RotatedToken, TokenRotation } from './token-rotation.ts';

export interface ListFeedOptions {
  readonly ledger: Pick<ProofLedger, 'account' | 'isProved'>;
  readonly schedule: PollSchedule;
  readonly clock: Clock;
  readonly random: () => number;
  /** The interval of polls, and the pause after the first failure. Later pauses grow from it. */
  readonly pollMs: number;
  readonly firstListMs: number;
}

/** How long a feed outlives its last subscription, for clients that reconnect. */
const LINGER_MS = 10_000;

/**
 * One account's live list. It is polled with its subscriptions' tokens in turn, one call at a time. A subclass has the
 * read, and the state that compares rows.
 */
export abstract class ListFeed<
  Row extends Identified,
  Answer extends ListAnswer<Row>,
  Event extends ListEvent<Row>,
> implements SubscribedFeed<Event>
{
  abstract readonly state: ListState<Row, Answer, Event>;
  protected readonly proof: AccountProof;
  readonly tokens: TokenRotation;
  readonly #options: ListFeedOptions;
  readonly #scheduled: ScheduledPoll;
  readonly #retry: RetryPause;
  #calledAtMs = Number.NEGATIVE_INFINITY;
  #isInFlight = false;
  /** Whether another poll was requested while a call was under way. */
  #mustPollAgain = false;
  /** Whether the polls have a random phase. They get it with the first answer. */
  #hasPhase = false;
  #lastFailure: Error | null = null;
  #cancelLinger = () => {};

  constructor(proof: AccountProof, options: ListFeedOptions, onClosed: () => void) {
    this.#options = options;
    this.proof = proof;
    this.tokens = new TokenRotation(options, () => {
      options.schedule.leave(this.#scheduled);
      this.#cancelLinger = options.clock.after(LINGER_MS, onClosed);
    });
    this.#scheduled = options.schedule.join(() => this.#start());
    this.#retry = new RetryPause(options, options.pollMs);
  }

  protected abstract readonly operation: string;

  /** One poll. Null if a newer list was served since. */
  protected abstract read(viewer: Viewer): Promise<Answer | null>;

  /** The list of a recent query, if it is as new as a poll's answer would be. */
  protected known(_viewer: Viewer): Answer | null {
    return null;
  }

  protected polled(): void {}

  join(subscription: FeedSubscription): void {
    this.#cancelLinger();
    const isAlone = this.tokens.isEmpty;
    this.tokens.join(subscription);
    if (isAlone) this.#begin(subscription.viewer);
    this.#expectList();
  }

  leave(subscription: FeedSubscription): void {
    this.tokens.leave(subscription);
  }

  get holdsFirstEvents(): boolean {
    return false;
  }

  /** Publishes a list from a call that was not a poll. */
  served(list: Answer): void {
    this.#publish(this.state.status, list);
  }

  /** Polls at once, because a write has changed the account. After a failed poll, its pause is kept. */
  accountChanged(): void {
    if (this.tokens.isEmpty || this.#retry.failures > 0) return;
    if (this.#isInFlight) this.#mustPollAgain = true;
    else this.#options.schedule.soon(this.#scheduled);
  }

  close(): void {
    this.tokens.close();
    this.#cancelLinger();
  }

  /** Starts with the list of a recent query if there is one. The next poll follows an interval after the last call. */
  #begin(viewer: Viewer): void {
    const { clock, schedule, pollMs } = this.#options;
    const known = this.state.list === null ? this.known(viewer) : null;
    if (known !== null) this.#publish('LIVE', known);
    if (this.#isInFlight) return;
    const { failures, untilMs, retryAfterUntilMs } = this.#retry;
    const dueMs = Math.max((known?.sentAtMs ?? this.#calledAtMs) + pollMs, untilMs);
    // After a failure the poll may move forward once the gateway has recovered.
    const soonestMs = failures > 0 ? retryAfterUntilMs : dueMs;
    if (dueMs <= clock.now()) schedule.soon(this.#scheduled);
    else schedule.at(this.#scheduled, dueMs, soonestMs);
  }

  /** Sets the deadline for a first list. It counts from the first call, which the ceiling of polls may delay. */
  #expectList(): void {
    const hasCalled = Number.isFinite(this.#calledAtMs);
    if (this.state.list !== null || !hasCalled) return;
    const failure = () =>
      this.#lastFailure ??
      new GatewayError('timeout', this.operation, 'no first list within the deadline');
    this.tokens.forEachSubscription((each) => each.expectList(this.#options.firstListMs, failure));
  }

  #start(): void {
    const { clock } = this.#options;
    const token = this.#isInFlight ? null : this.tokens.next(clock.now());
    if (token === null) return;
    this.#isInFlight = true;
    this.#mustPollAgain = false;
    this.#calledAtMs = clock.now();
    this.#expectList();
    let calls = 0;
    const receipt = () => {
      calls += 1;
    };
    const poll = this.read({ ...token.viewer, receipt })
      .finally(() => this.#options.schedule.made(this.#scheduled, calls))
      .then((list) => this.#answered(list))
      // An unexpected error counts as a failed poll, or the feed would never poll again.
      .catch((error: unknown) => this.#failed(token, error));
    fireAndForget('live feed', poll);
  }

  #answered(list: Answer | null): void {
    const { random, schedule, pollMs } = this.#options;
    this.#isInFlight = false;
    this.#retry.succeeded();
    schedule.answered(pollMs);
    // If the answer to a later call has arrived already, its list stays.
    this.#publish('LIVE', list);
    this.tokens.accepted();
    if (this.tokens.isEmpty) return;
    if (this.#mustPollAgain || this.tokens.hasUnproved) {
      schedule.soon(this.#scheduled);
      return;
    }
    // Jitter of up to half an interval, earlier or later, keeps feeds that began together from polling together.
    const phaseMs = this.#hasPhase ? 0 : pollMs * (random() - 0.5);
    this.#hasPhase = true;
    schedule.every(this.#scheduled, pollMs, this.#calledAtMs + phaseMs);
  }

  #failed(token: RotatedToken, error: unknown): void {
    const { schedule } = this.#options;
    this.#isInFlight = false;
    if (this.tokens.endIfRefused(token, error)) {
      // A refusal concerns one token. The next token polls at once, so that no subscription misses a poll.
      if (!this.tokens.isEmpty) schedule.soon(this.#scheduled);
      return;
    }
    this.#retry.failed(error);
    this.#lastFailure = error instanceof Error ? error : new Error(String(error));
    // The circuit breaker logs the gateway's failures.
    if (!(error instanceof GatewayError)) fireAndForget('live feed', Promise.reject(error));
    // The next poll is planned before subscriptions are woken, because an error of one of them must not end the polls.
    const { untilMs, retryAfterUntilMs } = this.#retry;
    if (!this.tokens.isEmpty) schedule.at(this.#scheduled, untilMs, retryAfterUntilMs);
    this.#publish('DELAYED', null);
  }

  /** Publishes a list unless the present one is newer, and wakes the subscriptions if they can see a difference. */
  #publish(status: FeedStatus, list: Answer | null): void {
    const isChanged = this.state.take(status, list);
    this.polled();
    if (isChanged) this.tokens.forEachSubscription((each) => each.events.wake());
  }
}

/**
 * All feeds of one kind of list in this process. Each account has one feed, whose polls serve every device and socket that
 * subscribes. Subscribing requires proof: a token that only claims the account cannot even find out whether a feed exists.
 */
export class ListFeeds<
  Feed extends ListFeed<Row, Answer, Event>,
  Row extends Identified,
  Answer extends ListAnswer<Row>,
  Event extends ListEvent<Row>,
> {
  readonly #feeds = new Map<Account, Feed>();
  readonly #clock: Clock;
  readonly #create: (proof: AccountProof, onClosed: () => void) => Feed;
  #isClosed = false;

  constructor(
    { clock }: Pick<ListFeedOptions, 'clock'>,
    create: (proof: AccountProof, onClosed: () => void) => Feed,
  ) {
    this.#clock = clock;
    this.#create = create;
  }

  /** The account's feed; undefined without proof, or if none is kept. */
  of(proof: AccountProof | null): Feed | undefined {
    return proof === null ? undefined : this.#feeds.get(proof[ACCOUNT]);
  }

  /**
   * Emits a snapshot, or the changes since the cursor `after`; then further changes. A subscription that follows the list
   * gets a snapshot each time. Polling starts with the first pull.
   */
  watch(proof: AccountProof, viewer: Viewer, how: WatchOptions = {}): EventIterator<Event> {
    const account = proof[ACCOUNT];
    if (account !== viewer[ACCOUNT]) throw new Error('the proof is of another account');
    return new Subscription<Event>(this.#clock, lasting(viewer), how, (subscription) => {
      if (this.#isClosed) return null;
      const onClosed = () => this.#feeds.delete(account);
      const feed = memo(this.#feeds, account, () => this.#create(proof, onClosed));
      feed.join(subscription);
      return feed;
    }).events;
  }

  /** Called when a write may have changed the account. The feed polls before its interval is over. */
  accountChanged(account: Account): void {
    this.#feeds.get(account)?.accountChanged();
  }

  get running(): readonly Feed[] {
    return [...this.#feeds.values()].filter(({ tokens }) => !tokens.isEmpty);
  }

  /** Ends every subscription without an error, for the shutdown of the server. */
  close(): void {
    this.#isClosed = true;
    for (const feed of this.#feeds.values()) feed.close();
    this.#feeds.clear();
  }
}
