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
  /** How long the feed is kept after its last subscription left. */
  readonly lingerMs: number;
  readonly expiryLeewayMs: number;
  /** Positions came or went, or the first list came. */
  readonly onMembershipChanged: (login: string, list: PositionList) => void;
  readonly onPoll: (
    outcome: 'changed' | 'unchanged' | 'failed' | 'refused',
    error?: unknown,
  ) => void;
}

/** One account's live list: who watches it, and what they are shown. */
export class Feed implements SubscribedFeed {
  readonly face = new FeedState();
  readonly #options: FeedOptions;
  readonly #proof: AccountProof;
  readonly #onClosed: () => void;
  readonly #ring: TokenRing;
  readonly #poller: Poller;
  readonly #firstList: FirstList;
  readonly #unwatch: () => void;
  #cancelLinger: (() => void) | null = null;
  #hasBegun = false;
  /** What its subscriptions have been woken for. */
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
      newest: () => this.face.list,
      heard: (list) => this.#heard(list),
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
    if (this.face.list === null) this.#firstList.wait(subscription, this.#poller.hasSent);
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
    if (member) member.wasNotAttempted = true;
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
    const held = board.newest({ proof: this.#proof, tokenHash: viewer.tokenHash });
    // Only what op 12 said lately: a snapshot's list must not hide that op 12 cannot be had.
    if (!isAnswer(held) || clock.now() - held.receivedAtMs >= pollMs) {
      this.#poller.begin(null);
      return;
    }
    this.#show(held);
    this.#poller.begin(held);
  }

  #admit(viewer: Viewer): RingMember {
    const { clock, expiryLeewayMs } = this.#options;
    const member = this.#ring.add(viewer);
    const { expiresAtMs } = viewer;
    if (expiresAtMs !== null) {
      const nowMs = clock.now();
      // One that was let in past its time, for a clock that runs behind, has until the leeway ends.
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

  /** Nobody's token is used once nobody watches; the list stays a while for who comes back. */
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
    const { arrangement } = this.face;
    this.face.status = 'LIVE';
    // Another call, sent later, may have been answered sooner: its list is shown then.
    this.#show(board.offer({ proof: this.#proof, tokenHash: member.viewer.tokenHash }, answer));
    this.#publish();
    onPoll(this.face.arrangement === arrangement ? 'unchanged' : 'changed');
    if (!proofs.holds(member.viewer)) this.#renew(member);
    this.#wakeHeldBack();
  }

  #failed(error: unknown): void {
    this.#firstList.failed(error);
    this.face.status = 'DELAYED';
    this.#publish();
    this.#options.onPoll('failed', error);
  }

  /** A list that was served to somebody of this account by another call. */
  #heard(list: PositionList): void {
    if (this.face.list === null) return;
    this.#show(list);
    this.#publish();
  }

  #show(list: PositionList): void {
    if (!this.face.take(list)) return;
    this.#firstList.arrived();
    this.#options.onMembershipChanged(this.#proof.login, list);
  }

  #publish(): void {
    // Most polls change nothing, and then nobody is woken.
    const { arrangement, status } = this.face;
    if (arrangement === this.#shownArrangement && status === this.#shownStatus) return;
    this.#shownArrangement = arrangement;
    this.#shownStatus = status;
    for (const { subscriptions } of this.#ring) {
      for (const subscription of subscriptions) subscription.wake();
    }
  }

  #wakeHeldBack(): void {
    for (const member of this.#ring) {
      if (!member.wasNotAttempted || !this.#options.proofs.holds(member.viewer)) continue;
      member.wasNotAttempted = false;
      for (const subscription of member.subscriptions) subscription.wake();
    }
  }

  #renew(member: RingMember): void {
    void renewProof(member, this.#options).then((refusal) => {
      if (refusal !== null) this.#dismiss(member, refusal);
      else this.#wakeHeldBack();
    });
  }
}

function isAnswer(list: PositionList | null): list is PositionsAnswer {
  return list?.bytes !== undefined;
}
