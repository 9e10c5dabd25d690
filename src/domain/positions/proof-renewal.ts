import { backoffMs } from '../../lib/backoff.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Viewer } from '../auth/viewer.ts';
import { refusalOf, type TokenEndedError } from './token-ended-error.ts';
import type { RingMember } from './token-ring.ts';

/** What a feed must know of the proof of its tokens. */
export interface TokenProofs {
  /** Whether the account is open to this token now, by what is known of it. */
  holds(viewer: Viewer): boolean;
  /** Proves the token anew where its use for polling was not enough; rejects where that fails. */
  renew(viewer: Viewer): Promise<unknown>;
}

export interface RenewalOptions {
  readonly proofs: TokenProofs;
  readonly clock: Clock;
  readonly random: () => number;
  readonly pollMs: number;
  readonly pollMaxMs: number;
}

/**
 * Proves a token again whose poll succeeded and which still has no proof, as after a refusal by
 * another operation. Answers the gateway's refusal, or null.
 */
export async function renewProof(
  member: RingMember,
  { proofs, clock, random, pollMs, pollMaxMs }: RenewalOptions,
): Promise<TokenEndedError | null> {
  if (member.isRenewing || clock.now() < member.renewAtMs) return null;
  member.isRenewing = true;
  try {
    await proofs.renew(member.viewer);
    member.renewalsFailed = 0;
    return null;
  } catch (error) {
    member.renewalsFailed += 1;
    const options = { baseMs: pollMs, maxMs: pollMaxMs, random };
    member.renewAtMs = clock.now() + backoffMs(member.renewalsFailed, options);
    return refusalOf(error);
  } finally {
    member.isRenewing = false;
  }
}
