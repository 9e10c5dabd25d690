import type { Viewer } from '../auth/viewer.ts';
import type { Subscription } from './subscription.ts';
import type { TokenProofs } from './token-proofs.ts';

/** One token with subscriptions to a feed. */
export interface RingMember {
  readonly viewer: Viewer;
  readonly subscriptions: Set<Subscription>;
  polledAtMs: number;
  /** Its proof is being renewed. */
  isRenewing: boolean;
  renewalsFailed: number;
  /** No renewal is tried before this time. */
  renewAtMs: number;
  /** An event was withheld from one of its subscriptions for lack of proof. */
  hasWithheldEvent: boolean;
  /** Cancels the timer of the token's expiry. */
  cancelExpiry: (() => void) | null;
}

/** The tokens of one feed in round robin, the next one to poll first. */
export class TokenRing {
  readonly #members = new Map<string, RingMember>();
  readonly #proofs: TokenProofs;
  /** A token without proof polls out of turn, but not more often than this. */
  readonly #retryMs: number;

  constructor(proofs: TokenProofs, retryMs: number) {
    this.#proofs = proofs;
    this.#retryMs = retryMs;
  }

  get size(): number {
    return this.#members.size;
  }

  [Symbol.iterator](): Iterator<RingMember> {
    return this.#members.values();
  }

  get(viewer: Viewer): RingMember | undefined {
    return this.#members.get(viewer.tokenHash);
  }

  add(viewer: Viewer): RingMember {
    const { token, client, account } = viewer.caller;
    const member: RingMember = {
      viewer: {
        ...viewer,
        caller: { token, ...(client && { client }), ...(account && { account }) },
      },
      subscriptions: new Set(),
      polledAtMs: Number.NEGATIVE_INFINITY,
      isRenewing: false,
      renewalsFailed: 0,
      renewAtMs: Number.NEGATIVE_INFINITY,
      hasWithheldEvent: false,
      cancelExpiry: null,
    };
    this.#members.set(viewer.tokenHash, member);
    return member;
  }

  remove(member: RingMember): void {
    member.cancelExpiry?.();
    this.#members.delete(member.viewer.tokenHash);
  }

  has(member: RingMember): boolean {
    return this.#members.get(member.viewer.tokenHash) === member;
  }

  /** The next token to poll: one whose proof has lapsed, else the one that has waited longest. */
  next(nowMs: number): RingMember | null {
    const member = this.unproved(nowMs) ?? this.#first();
    if (member === null) return null;
    member.polledAtMs = nowMs;
    // The token moves behind the others, where there are any.
    if (this.#members.size > 1) {
      this.#members.delete(member.viewer.tokenHash);
      this.#members.set(member.viewer.tokenHash, member);
    }
    return member;
  }

  /** A token without proof, which must poll before its subscriptions may get new events. */
  unproved(nowMs: number): RingMember | null {
    // A token that polls alone is proved by each poll anyway.
    if (this.#members.size < 2) return null;
    for (const member of this.#members.values()) {
      const dueMs = Math.max(member.polledAtMs + this.#retryMs, member.renewAtMs);
      if (member.isRenewing || nowMs < dueMs) continue;
      if (!this.#proofs.holds(member.viewer)) return member;
    }
    return null;
  }

  #first(): RingMember | null {
    const [first] = this.#members.values();
    return first ?? null;
  }
}
