import type { PositionsAnswer, SessionAnswer } from '../../gateway/answers.ts';
import { GatewayError } from '../../gateway/errors.ts';
import type { Position } from '../../gateway/model.ts';
import type { AccountProof } from '../auth/proof.ts';
import { polling, type Viewer } from '../auth/viewer.ts';
import { AccountReads } from './account-reads.ts';
import type { FeedStatus } from './feed-events.ts';
import type { FeedOptions, PollOutcome } from './feed-options.ts';
import { type FeedState, State, samePosition } from './feed-state.ts';
import { Poller } from './poller.ts';
import type { SubscribedFeed, Subscription } from './subscription.ts';
import { type RingMember, TokenRing } from './token-ring.ts';

/** How long a feed is kept after its last subscription ended. */
const LINGER_MS = 10_000;

/** One account's live list, its poller and its subscriptions. */
export class Feed implements SubscribedFeed {
  readonly state: FeedState = new State();
  /** The tokens that it polls with: those of its subscriptions. */
  readonly ring: TokenRing;
  readonly #options: FeedOptions;
  readonly #proof: AccountProof;
  readonly #onClosed: () => void;
  readonly #poller: Poller;
  readonly #account: AccountReads;
  #cancelLinger: (() => void) | null = null;
  #hasPolled = false;
  #lastFailure: Error | null = null;

  constructor(proof: AccountProof, options: FeedOptions, onClosed: () => void) {
    this.#options = options;
    this.#proof = proof;
    this.#onClosed = onClosed;
    this.ring = new TokenRing(options, () => this.#rest());
    this.#poller = new Poller(options, this.ring, (member) => this.#poll(member));
    this.#account = new AccountReads(options, this.state, this.ring, this.#poller);
  }

  join(subscription: Subscription): void {
    this.#cancelLinger?.();
    this.#cancelLinger = null;
    const { viewer, followsAccount, after } = subscription.options;
    const isAlone = this.ring.isEmpty;
    this.ring.join(subscription);
    if (isAlone) this.#begin(viewer);
    if (this.#hasPolled) this.#expectList(subscription);
    if (!followsAccount) return;
    const version = this.state.accountChanges.versionOf(after) ?? Number.POSITIVE_INFINITY;
    this.#account.join(viewer, version < this.state.readVersion);
  }

  leave(subscription: Subscription): void {
    if (subscription.options.followsAccount) this.#account.leave();
    this.ring.leave(subscription);
  }

  /** The account has surely changed, as after an order. */
  accountChanged(): void {
    this.#poller.pollNow();
    this.#account.accountChanged();
  }

  /** Shows a list that another call than a poll has brought. */
  served(list: PositionsAnswer): void {
    this.#publish(this.state.status, list);
  }

  /** Op 10 may be behind op 12, so a snapshot is only a hint: op 12 is asked what has changed. */
  snapshotAnswered({ logicalTime, session }: SessionAnswer): void {
    const { list } = this.state;
    const rows = session.positions?.rows;
    if (list === null || !rows || logicalTime < list.logicalTime) return;
    if (!sameRows(rows, list.positions)) this.#poller.pollNow();
  }

  close(): void {
    this.ring.close();
    this.#cancelLinger?.();
  }

  /** A first list need not be read where a query has just been served one. */
  #begin(viewer: Viewer): void {
    const { board, freshness, clock, pollMs } = this.#options;
    const cached = this.state.list === null ? board.newest(viewer, this.#proof) : null;
    const isFresh = cached !== null && clock.now() - cached.receivedAtMs < pollMs;
    if (!isFresh || cached.logicalTime <= freshness.changedAt(viewer.account)) {
      this.#poller.resume();
      return;
    }
    this.#publish('LIVE', cached);
    this.#poller.resume(cached.sentAtMs);
  }

  /** The time counts from the first call: waiting for our own rate ceiling is not the gateway's fault. */
  #expectList(subscription: Subscription): void {
    if (this.state.list !== null) return;
    const message = 'no first list within the deadline';
    subscription.expectList(
      this.#options.gatewayTimeoutMs,
      () => this.#lastFailure ?? new GatewayError('timeout', 'getOpenPositions', message),
    );
  }

  /** One poll, from its call to the subscriptions that its answer wakes. */
  async #poll(member: RingMember): Promise<PollOutcome> {
    const { gateway, board, freshness } = this.#options;
    const { viewer } = member;
    if (!this.#hasPolled) {
      this.#hasPolled = true;
      for (const each of this.ring.subscriptions) this.#expectList(each);
    }
    // Not awaited: where another replica's order has changed the account, it is polled once more.
    void freshness.catchUp(viewer.account);
    let answer: PositionsAnswer;
    try {
      // An answer with the bytes of the list that is shown need not be parsed.
      answer = await gateway.getOpenPositions(polling(viewer), this.state.list);
    } catch (error) {
      if (this.ring.isRefused(member, error)) return { kind: 'refused' };
      this.#lastFailure = error instanceof Error ? error : new Error(String(error));
      this.#publish('DELAYED', null);
      return { kind: 'failed', error };
    }
    const { positions } = this.state;
    // A call sent later may have been answered sooner: then its list is shown.
    this.#publish('LIVE', board.offer(viewer, answer, this.#proof));
    this.ring.accepted(member);
    return { kind: this.state.positions === positions ? 'unchanged' : 'changed' };
  }

  /** Shows a list unless it shows a newer one; wakes the subscriptions where that changes anything for them. */
  #publish(status: FeedStatus, list: PositionsAnswer | null): void {
    const isChanged = this.state.take(status, list);
    // Before anybody is woken, because what has to be read may withhold the account's events.
    this.#account.changed();
    if (!isChanged) return;
    for (const subscription of this.ring.subscriptions) subscription.wake();
  }

  /** No token polls without a subscription; the list is kept for a while for clients that reconnect. */
  #rest(): void {
    this.#poller.pause();
    this.#cancelLinger = this.#options.clock.after(LINGER_MS, this.#onClosed);
  }
}

/** In whatever order: the interface promises none. */
function sameRows(a: readonly Position[], b: readonly Position[]): boolean {
  if (a.length !== b.length) return false;
  const byId = new Map(b.map((position) => [position.id, position]));
  return a.every((position) => {
    const other = byId.get(position.id);
    return other !== undefined && samePosition(position, other);
  });
}
