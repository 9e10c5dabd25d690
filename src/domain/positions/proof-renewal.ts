import { backoffMs } from '../../lib/backoff.ts';
import type { Clock } from '../../lib/clock.ts';
import { refusalOf, type TokenEndedError } from './token-ended-error.ts';
import type { TokenProofs } from './token-proofs.ts';
import type { RingMember } from './token-ring.ts';

export interface RenewalOptions {
  readonly proofs: TokenProofs;
  readonly clock: Clock;
  readonly random: () => number;
  readonly pollMs: number;
  readonly pollMaxMs: number;
}

/**
 * Renews the proof of a token whose poll succeeded and which still has none, as after a refusal by another
 * operation. Resolves to the gateway's refusal, or to null.
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
