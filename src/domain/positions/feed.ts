import type { PositionsAnswer, SessionAnswer } from '../../gateway/answers.ts';
import { GatewayError } from '../../gateway/errors.ts';
import type { Position } from '../../gateway/model.ts';
import { EXPIRY_LEEWAY_MS } from '../auth/claims.ts';
import type { AccountProof } from '../auth/proof.ts';
import type { Viewer } from '../auth/viewer.ts';
import { AccountReads } from './account-reads.ts';
import type { FeedStatus } from './feed-events.ts';
import type { FeedOptions, PollOutcome } from './feed-options.ts';
import { createFeedState, samePosition } from './feed-state.ts';
import { Poller } from './poller.ts';
import type { SubscribedFeed, Subscription } from './subscription.ts';
import { TokenEndedError, tokenEndBehind } from './token-ended-error.ts';
import { type RingMember, TokenRing } from './token-ring.ts';

/** How long a feed is kept after its last subscription ended. */
const LINGER_MS = 10_000;

/** One account's live list, its poller and its subscriptions. */
export class Feed implements SubscribedFeed {
  readonly state = createFeedState();
  readonly #options: FeedOptions;
  readonly #proof: AccountProof;
  readonly #onClosed: () => void;
  readonly #ring: TokenRing;
  readonly #poller: Poller;
  readonly #account: AccountReads;
  #cancelLinger: (() => void) | null = null;
  #hasPolled = false;
  #lastFailure: Error | null = null;
  /** The last poll's answer: an equal one next time need not be parsed. */
  #previous: PositionsAnswer | null = null;

  constructor(proof: AccountProof, options: FeedOptions, onClosed: () => void) {
    this.#options = options;
    this.#proof = proof;
    this.#onClosed = onClosed;
    this.#ring = new TokenRing(options);
    this.#poller = new Poller(options, this.#ring, (member) => this.#poll(member));
    this.#account = new AccountReads(options, {
      state: this.state,
      ring: this.#ring,
      wake: () => this.#wake(({ options }) => options.followsAccount),
      pollNow: () => this.#poller.pollNow(),
      answered: (member) => this.#accepted(member),
      failed: (member, error) => this.#isRefused(member, error),
    });
  }

  get subscriptions(): number {
    const members = [...this.#ring.members.values()];
    return members.reduce((sum, { subscriptions }) => sum + subscriptions.size, 0);
  }

  /** Whether it has subscriptions, whose tokens it polls with. */
  get isPolling(): boolean {
    return this.#ring.members.size > 0;
  }

  join(subscription: Subscription): void {
    this.#cancelLinger?.();
    this.#cancelLinger = null;
    const { viewer, followsAccount, after } = subscription.options;
    const isAlone = !this.isPolling;
    const member = this.#ring.members.get(viewer.tokenHash) ?? this.#admit(viewer);
    member.subscriptions.add(subscription);
    if (isAlone) this.#begin(viewer);
    if (this.#hasPolled) this.#expectList(subscription);
    if (!followsAccount) return;
    const version = this.state.accountChanges.versionOf(after) ?? Number.POSITIVE_INFINITY;
    this.#account.join(viewer, version < this.state.readVersion);
  }

  leave(subscription: Subscription): void {
    const { viewer, followsAccount } = subscription.options;
    const member = this.#ring.members.get(viewer.tokenHash);
    if (followsAccount) this.#account.leave();
    if (member?.subscriptions.delete(subscription) && member.subscriptions.size === 0)
      this.#dismiss(member, null);
  }

  maySend(viewer: Viewer): boolean {
    if (this.#options.ledger.account(viewer) !== null) return true;
    const member = this.#ring.members.get(viewer.tokenHash);
    if (member) member.hasWithheldEvent = true;
    return false;
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
    for (const member of [...this.#ring.members.values()]) this.#dismiss(member, null);
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
    this.#previous = cached;
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
      for (const { subscriptions } of this.#ring.members.values())
        for (const each of subscriptions) this.#expectList(each);
    }
    // Not awaited: where another replica's order has changed the account, it is polled once more.
    void freshness.catchUp(viewer.account);
    try {
      this.#previous = await gateway.getOpenPositions(viewer.polling(), this.#previous);
    } catch (error) {
      return this.#failed(member, error);
    }
    const { positions } = this.state;
    // A call sent later may have been answered sooner: then its list is shown.
    const newest = board.offer(viewer, this.#previous, this.#proof);
    this.#publish('LIVE', newest);
    this.#accepted(member);
    return { kind: this.state.positions === positions ? 'unchanged' : 'changed' };
  }

  #failed(member: RingMember, error: unknown): PollOutcome {
    if (this.#isRefused(member, error)) return { kind: 'refused' };
    this.#lastFailure = error instanceof Error ? error : new Error(String(error));
    this.#publish('DELAYED', null);
    return { kind: 'failed', error };
  }

  /** The gateway has answered a call with this token. */
  #accepted(member: RingMember): void {
    if (this.#options.ledger.account(member.viewer) === null) {
      void this.#ring.renew(member).then((refusal) => {
        if (refusal !== null) this.#dismiss(member, refusal);
        else this.#wakeWithheld();
      });
    }
    this.#wakeWithheld();
  }

  /** A refusal ends the token's subscriptions. */
  #isRefused(member: RingMember, error: unknown): boolean {
    const refusal = tokenEndBehind(error);
    if (refusal !== null) this.#dismiss(member, refusal);
    return refusal !== null;
  }

  /** Shows a list unless it shows a newer one; wakes the subscriptions where that changes anything for them. */
  #publish(status: FeedStatus, list: PositionsAnswer | null): void {
    const { positions, status: lastStatus } = this.state;
    this.state.takeStatus(status);
    if (list !== null) this.state.take(list);
    // Before anybody is woken, because what has to be read may withhold the account's events.
    this.#account.changed();
    if (this.state.positions === positions && status === lastStatus) return;
    this.#wake(() => true);
  }

  #wake(isMeant: (subscription: Subscription) => boolean): void {
    for (const { subscriptions } of this.#ring.members.values()) {
      for (const subscription of subscriptions) if (isMeant(subscription)) subscription.wake();
    }
  }

  #admit(viewer: Viewer): RingMember {
    const { clock } = this.#options;
    const member = this.#ring.add(viewer);
    const { expiresAtMs } = viewer;
    if (expiresAtMs !== null) {
      const nowMs = clock.date();
      // A token accepted past its expiry, within the leeway for clock skew, ends with the leeway.
      const endsAtMs = nowMs < expiresAtMs ? expiresAtMs : expiresAtMs + EXPIRY_LEEWAY_MS;
      member.cancelExpiry = clock.after(endsAtMs - nowMs, () =>
        this.#dismiss(member, new TokenEndedError('UNAUTHENTICATED', 'the token has expired')),
      );
    }
    return member;
  }

  #dismiss(member: RingMember, reason: TokenEndedError | null): void {
    if (!this.#ring.remove(member)) return;
    for (const subscription of [...member.subscriptions]) subscription.events.end(reason);
    this.#restIfAlone();
  }

  /** No token polls without a subscription; the list is kept for a while for clients that reconnect. */
  #restIfAlone(): void {
    if (this.isPolling) return;
    this.#poller.pause();
    this.#cancelLinger = this.#options.clock.after(LINGER_MS, this.#onClosed);
  }

  #wakeWithheld(): void {
    for (const member of this.#ring.members.values()) {
      if (!member.hasWithheldEvent || this.#options.ledger.account(member.viewer) === null)
        continue;
      member.hasWithheldEvent = false;
      for (const subscription of member.subscriptions) subscription.wake();
    }
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
