import type { Clock } from '../../lib/clock.ts';
import { createKnownKeys } from '../../lib/limits/known-keys.ts';
import type { ProofLedger } from '../../src/domain/auth/proof.ts';
import { createProofTrials, type ProofTrials } from '../../src/domain/auth/proof-trials.ts';
import { createTestLimiter } from './limits.ts';

/** Trials of tokens by the default limits, where no token is known. */
export function createTestTrials(clock: Clock, ledger: ProofLedger): ProofTrials {
  const [known, proved] = [createKnownKeys(clock, 60_000), createKnownKeys(clock, 60_000)];
  const limiter = createTestLimiter({}, clock);
  return createProofTrials({ clock, limiter, known, proved, ledger });
}
