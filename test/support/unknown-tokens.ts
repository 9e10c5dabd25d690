import type { ProofLedger } from '../../src/domain/auth/proof.ts';
import { UnknownTokens } from '../../src/domain/auth/trading-limits.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { KnownKeys } from '../../src/lib/limits/known-keys.ts';
import { createTestLimiter } from './limits.ts';

/** The guard of unknown tokens with the default limits; by default no token is known. */
export function createTestUnknownTokens(
  clock: Clock,
  ledger: ProofLedger,
  known = new KnownKeys(clock, 60_000),
): UnknownTokens {
  return new UnknownTokens({ limiter: createTestLimiter({}, clock), known, ledger });
}
