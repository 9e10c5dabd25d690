import { EXPIRY_LEEWAY_MS } from '../auth/claims.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { FeedOptions } from './feed-options.ts';
import { Rest } from './rest.ts';
import type { Subscription } from './subscription.ts';
import { TokenEndedError, tokenEndBehind } from './token-ended-error.ts';

/** One token with subscriptions to a feed. */
export class RingMember {
  readonly viewer: Viewer;
  readonly subscriptions = new Set<Subscription>();
  polledAtMs = Number.NEGATIVE_INFINITY;
  /** Its proof is being renewed. */
  isRenewing = false;
  /** The pause between renewals that fail. */
  readonly rest: Rest;
  /** An event was withheld from one of its subscriptions for lack of proof. */
  hasWithheldEvent = false;
  cancelExpiry: (() => void) | null = null;

  constructor(viewer: Viewer, options: FeedOptions) {
    this.viewer = viewer;
    this.rest = new Rest(options);
  }
}

/** The tokens of one feed's subscriptions in round robin, the next one to poll first. */
export class TokenRing {
  readonly #members = new Map<string, RingMember>();
  readonly #options: FeedOptions;
  readonly #onEmpty: () => void;

  /** `onEmpty` is called when the last token has left. */
  constructor(options: FeedOptions, onEmpty: () => void) {
    this.#options = options;
    this.#onEmpty = onEmpty;
  }

  get isEmpty(): boolean {
    return this.#members.size === 0;
  }

  get subscriptions(): readonly Subscription[] {
    return [...this.#members.values()].flatMap(({ subscriptions }) => [...subscriptions]);
  }

  join(subscription: Subscription): void {
    const { viewer } = subscription.options;
    const member = this.#members.get(viewer.tokenHash) ?? this.#admit(viewer);
    member.subscriptions.add(subscription);
  }

  leave(subscription: Subscription): void {
    const member = this.#members.get(subscription.options.viewer.tokenHash);
    if (member?.subscriptions.delete(subscription) && member.subscriptions.size === 0)
      this.#dismiss(member, null);
  }

  close(): void {
    for (const member of [...this.#members.values()]) this.#dismiss(member, null);
  }

  /** Whether this token's subscriptions may get new events now; those that may not are woken once they may. */
  maySend(viewer: Viewer): boolean {
    if (this.#isProved(viewer)) return true;
    const member = this.#members.get(viewer.tokenHash);
    if (member) member.hasWithheldEvent = true;
    return false;
  }

  /** The next token to poll: one whose proof has lapsed, else the one that has waited longest. */
  next(nowMs: number): RingMember | null {
    const [first = null] = this.#members.values();
    const member = this.unproved(nowMs) ?? first;
    if (member === null) return null;
    member.polledAtMs = nowMs;
    // The token moves behind the others.
    this.#members.delete(member.viewer.tokenHash);
    this.#members.set(member.viewer.tokenHash, member);
    return member;
  }

  /** A token without proof, which must poll before its subscriptions may get new events, but not more often than every `pollMs`. */
  unproved(nowMs: number): RingMember | null {
    for (const member of this.#members.values()) {
      const dueMs = Math.max(member.polledAtMs + this.#options.pollMs, member.rest.untilMs);
      if (!member.isRenewing && nowMs >= dueMs && !this.#isProved(member.viewer)) return member;
    }
    return null;
  }

  /** The gateway has answered a call with this token. */
  accepted(member: RingMember): void {
    if (!this.#isProved(member.viewer)) void this.#renew(member);
    this.#wakeWithheld();
  }

  /** Ends the token's subscriptions where a failure is the gateway's refusal of the token; returns whether it is. */
  isRefused(member: RingMember, error: unknown): boolean {
    const refusal = tokenEndBehind(error);
    if (refusal !== null) this.#dismiss(member, refusal);
    return refusal !== null;
  }

  /**
   * Renews the proof of a token whose call succeeded and which still has none, as after a refusal by another
   * operation.
   */
  async #renew(member: RingMember): Promise<void> {
    if (member.isRenewing || !member.rest.isOver) return;
    member.isRenewing = true;
    try {
      await this.#options.prover.account(member.viewer);
      member.rest.succeeded();
    } catch (error) {
      member.rest.failed(error);
      this.isRefused(member, error);
    } finally {
      member.isRenewing = false;
    }
    this.#wakeWithheld();
  }

  #wakeWithheld(): void {
    for (const member of this.#members.values()) {
      if (!member.hasWithheldEvent || !this.#isProved(member.viewer)) continue;
      member.hasWithheldEvent = false;
      for (const subscription of member.subscriptions) subscription.wake();
    }
  }

  #isProved(viewer: Viewer): boolean {
    return this.#options.ledger.account(viewer) !== null;
  }

  #admit(viewer: Viewer): RingMember {
    const { clock } = this.#options;
    const member = new RingMember(viewer, this.#options);
    this.#members.set(viewer.tokenHash, member);
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
    const { viewer, subscriptions, cancelExpiry } = member;
    if (this.#members.get(viewer.tokenHash) !== member) return;
    cancelExpiry?.();
    this.#members.delete(viewer.tokenHash);
    for (const subscription of [...subscriptions]) subscription.events.end(reason);
    if (this.isEmpty) this.#onEmpty();
  }
}
