import type { PositionsAnswer } from '../../gateway/answers.ts';
import type { AccountProof } from '../auth/proof.ts';
import type { Viewer } from '../auth/viewer.ts';
import { FeedState, type FeedStatus } from './feed-state.ts';
import { FirstList } from './first-list.ts';
import { Poller, type PollerOptions } from './poller.ts';
import type { PositionList, PositionsBoard } from './positions-board.ts';
import { renewProof } from './proof-renewal.ts';
import type { SubscribedFeed, Subscription } from './subscription.ts';
import { TokenEndedError } from './token-ended-error.ts';
import type { TokenProofs } from './token-proofs.ts';
import { type RingMember, TokenRing } from './token-ring.ts';

export interface FeedOptions extends PollerOptions {
  readonly board: PositionsBoard;
  readonly proofs: TokenProofs;
  /** How long a subscription waits for the first list. */
  readonly gatewayTimeoutMs: number;
  /** How long the feed is kept after its last subscription ended. */
  readonly lingerMs: number;
  readonly expiryLeewayMs: number;
  /** Called when positions are opened or closed, and with the first list. */
  readonly onMembershipChanged: (login: string, list: PositionList) => void;
  readonly onPoll: (
    outcome: 'changed' | 'unchanged' | 'failed' | 'refused',
    error?: unknown,
  ) => void;
}

/** One account's live list, its poller and its subscriptions. */
export class Feed implements SubscribedFeed {
  readonly state = new FeedState();
  readonly #options: FeedOptions;
  readonly #proof: AccountProof;
  readonly #onClosed: () => void;
  readonly #ring: TokenRing;
  readonly #poller: Poller;
  readonly #firstList: FirstList;
  readonly #unwatch: () => void;
  #cancelLinger: (() => void) | null = null;
  #hasBegun = false;
  /** The arrangement that its subscriptions were last woken for. */
  #shownArrangement = 0;
  #shownStatus: FeedStatus = 'LIVE';

  constructor(proof: AccountProof, options: FeedOptions, onClosed: () => void) {
    this.#options = options;
    this.#proof = proof;
    this.#onClosed = onClosed;
    this.#ring = new TokenRing(options.proofs, options.pollMs);
    this.#firstList = new FirstList(options.clock, options.gatewayTimeoutMs);
    this.#poller = new Poller(options, this.#ring, {
      sent: () => this.#firstList.sent(),
      answered: (member, answer) => this.#answered(member, answer),
      failed: (error) => this.#failed(error),
      refused: (member, refusal) => {
        options.onPoll('refused', refusal);
        this.#dismiss(member, refusal);
      },
    });
    this.#unwatch = options.board.watch(proof, {
      newest: () => this.state.list,
      onList: (list) => this.#received(list),
    });
  }

  get subscriptions(): number {
    let count = 0;
    for (const { subscriptions } of this.#ring) count += subscriptions.size;
    return count;
  }

  get tokens(): number {
    return this.#ring.size;
  }

  join(subscription: Subscription): void {
    this.#cancelLinger?.();
    this.#cancelLinger = null;
    const { viewer } = subscription;
    const member = this.#ring.get(viewer) ?? this.#admit(viewer);
    member.subscriptions.add(subscription);
    if (this.#hasBegun) this.#poller.resume();
    else this.#begin(viewer);
    if (this.state.list === null) this.#firstList.wait(subscription, this.#poller.hasSent);
  }

  leave(subscription: Subscription): void {
    this.#firstList.leave(subscription);
    const member = this.#ring.get(subscription.viewer);
    if (!member?.subscriptions.delete(subscription) || member.subscriptions.size > 0) return;
    this.#ring.remove(member);
    this.#restIfAlone();
  }

  maySend(viewer: Viewer): boolean {
    if (this.#options.proofs.holds(viewer)) return true;
    const member = this.#ring.get(viewer);
    if (member) member.hasWithheldEvent = true;
    return false;
  }

  pollNow(): void {
    this.#poller.pollNow();
  }

  close(): void {
    this.#poller.pause();
    this.#unwatch();
    for (const member of [...this.#ring]) this.#dismiss(member, null);
    this.#cancelLinger?.();
  }

  #begin(viewer: Viewer): void {
    this.#hasBegun = true;
    const { board, clock, pollMs } = this.#options;
    const cached = board.newest({ proof: this.#proof, tokenHash: viewer.tokenHash });
    // Only a recent answer of op 12 counts: a snapshot's list must not hide that op 12 is unavailable.
    if (!isAnswer(cached) || clock.now() - cached.receivedAtMs >= pollMs) {
      this.#poller.begin(null);
      return;
    }
    this.#show(cached);
    this.#poller.begin(cached);
  }

  #admit(viewer: Viewer): RingMember {
    const { clock, expiryLeewayMs } = this.#options;
    const member = this.#ring.add(viewer);
    const { expiresAtMs } = viewer;
    if (expiresAtMs !== null) {
      const nowMs = clock.now();
      // A token accepted past its expiry, within the leeway for clock skew, ends with the leeway.
      const endsAtMs = nowMs < expiresAtMs ? expiresAtMs : expiresAtMs + expiryLeewayMs;
      member.cancelExpiry = clock.after(endsAtMs - nowMs, () =>
        this.#dismiss(member, new TokenEndedError('UNAUTHENTICATED', 'the token has expired')),
      );
    }
    return member;
  }

  #dismiss(member: RingMember, reason: TokenEndedError | null): void {
    if (!this.#ring.has(member)) return;
    this.#ring.remove(member);
    for (const subscription of [...member.subscriptions]) subscription.end(reason);
    this.#restIfAlone();
  }

  /** No token polls without a subscription; the list is kept for a while for clients that reconnect. */
  #restIfAlone(): void {
    if (this.#ring.size > 0) return;
    this.#poller.pause();
    this.#cancelLinger?.();
    this.#cancelLinger = this.#options.clock.after(this.#options.lingerMs, () => {
      this.#unwatch();
      this.#onClosed();
    });
  }

  #answered(member: RingMember, answer: PositionsAnswer): void {
    const { board, proofs, onPoll } = this.#options;
    const { arrangement } = this.state;
    this.state.status = 'LIVE';
    // A call sent later may have been answered sooner: then its list is shown.
    this.#show(board.offer({ proof: this.#proof, tokenHash: member.viewer.tokenHash }, answer));
    this.#publish();
    onPoll(this.state.arrangement === arrangement ? 'unchanged' : 'changed');
    if (!proofs.holds(member.viewer)) this.#renew(member);
    this.#wakeWithheld();
  }

  #failed(error: unknown): void {
    this.#firstList.failed(error);
    this.state.status = 'DELAYED';
    this.#publish();
    this.#options.onPoll('failed', error);
  }

  /** Receives a list that another call has served to this account. */
  #received(list: PositionList): void {
    if (this.state.list === null) return;
    this.#show(list);
    this.#publish();
  }

  #show(list: PositionList): void {
    if (!this.state.take(list)) return;
    this.#firstList.received();
    this.#options.onMembershipChanged(this.#proof.login, list);
  }

  #publish(): void {
    // Most polls change nothing, and then no subscription is woken.
    const { arrangement, status } = this.state;
    if (arrangement === this.#shownArrangement && status === this.#shownStatus) return;
    this.#shownArrangement = arrangement;
    this.#shownStatus = status;
    for (const { subscriptions } of this.#ring) {
      for (const subscription of subscriptions) subscription.wake();
    }
  }

  #wakeWithheld(): void {
    for (const member of this.#ring) {
      if (!member.hasWithheldEvent || !this.#options.proofs.holds(member.viewer)) continue;
      member.hasWithheldEvent = false;
      for (const subscription of member.subscriptions) subscription.wake();
    }
  }

  #renew(member: RingMember): void {
    void renewProof(member, this.#options).then((refusal) => {
      if (refusal !== null) this.#dismiss(member, refusal);
      else this.#wakeWithheld();
    });
  }
}

function isAnswer(list: PositionList | null): list is PositionsAnswer {
  return list?.bytes !== undefined;
}
