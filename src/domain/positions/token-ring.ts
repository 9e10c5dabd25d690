import type { Viewer } from '../auth/viewer.ts';
import type { FeedOptions } from './feed-options.ts';
import { Rest } from './rest.ts';
import type { Subscription } from './subscription.ts';
import { type TokenEndedError, tokenEndBehind } from './token-ended-error.ts';

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

/** The tokens of one feed in round robin, the next one to poll first. */
export class TokenRing {
  /** By the hashes of their tokens. */
  readonly members = new Map<string, RingMember>();
  readonly #options: FeedOptions;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  add(viewer: Viewer): RingMember {
    const member = new RingMember(viewer, this.#options);
    this.members.set(viewer.tokenHash, member);
    return member;
  }

  /** Returns whether it was a member still. */
  remove(member: RingMember): boolean {
    const { tokenHash } = member.viewer;
    if (this.members.get(tokenHash) !== member) return false;
    member.cancelExpiry?.();
    return this.members.delete(tokenHash);
  }

  /** The next token to poll: one whose proof has lapsed, else the one that has waited longest. */
  next(nowMs: number): RingMember | null {
    const [first = null] = this.members.values();
    const member = this.unproved(nowMs) ?? first;
    if (member === null) return null;
    member.polledAtMs = nowMs;
    // The token moves behind the others.
    this.members.delete(member.viewer.tokenHash);
    this.members.set(member.viewer.tokenHash, member);
    return member;
  }

  /** A token without proof, which must poll before its subscriptions may get new events, but not more often than every `pollMs`. */
  unproved(nowMs: number): RingMember | null {
    const { ledger, pollMs } = this.#options;
    for (const member of this.members.values()) {
      const dueMs = Math.max(member.polledAtMs + pollMs, member.rest.untilMs);
      if (!member.isRenewing && nowMs >= dueMs && ledger.account(member.viewer) === null)
        return member;
    }
    return null;
  }

  /**
   * Renews the proof of a token whose poll succeeded and which still has none, as after a refusal by another
   * operation. Resolves to the gateway's refusal, or to null.
   */
  async renew(member: RingMember): Promise<TokenEndedError | null> {
    if (member.isRenewing || !member.rest.isOver) return null;
    member.isRenewing = true;
    try {
      await this.#options.prover.account(member.viewer);
      member.rest.succeeded();
      return null;
    } catch (error) {
      member.rest.failed(error);
      return tokenEndBehind(error);
    } finally {
      member.isRenewing = false;
    }
  }
}
