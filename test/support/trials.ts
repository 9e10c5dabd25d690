import type { ProofLedger } from '../../src/domain/auth/proof.ts';
import { ProofTrials } from '../../src/domain/auth/proof-trials.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { KnownKeys } from '../../src/lib/limits/known-keys.ts';
import { createTestLimiter } from './limits.ts';

/** Trials of tokens by the default limits, where no token is known. */
export function createTestTrials(clock: Clock, ledger: ProofLedger): ProofTrials {
  const known = new KnownKeys(clock, 60_000);
  return new ProofTrials(clock, createTestLimiter({}, clock), known, ledger);
}
