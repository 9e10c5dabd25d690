import type { TokenRules } from '../../../lib/live/live-options.ts';
import { GatewayError } from '../../gateway/errors.ts';
import { EXPIRY_LEEWAY_MS } from '../auth/claims.ts';
import type { ProofLedger } from '../auth/proof.ts';
import { TokenEndedError, tokenEndBehind } from '../auth/token-ended-error.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { Prover } from './prover.ts';

/** The rules by which a live list of an account is shown to a token: while the gateway accepts it. */
export function liveTokens(
  ledger: Pick<ProofLedger, 'isProved'>,
  prover: Pick<Prover, 'account'>,
): TokenRules<Viewer> {
  return {
    leewayMs: EXPIRY_LEEWAY_MS,
    isProvedByPolls: true,
    isProved: ledger.isProved,
    prove: (viewer) => prover.account(viewer),
    endBehind: tokenEndBehind,
    expired: () => new TokenEndedError('UNAUTHENTICATED', 'the token has expired'),
  };
}

/** The pause that a failed backend asks for. */
export function retryAfterSeconds(error: unknown): number | null {
  return error instanceof GatewayError ? error.retryAfterSeconds : null;
}
