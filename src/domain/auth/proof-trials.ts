import { hash } from 'node:crypto';
import type { Clock } from '../../../lib/clock.ts';
import { addressClient, singleClient } from '../../../lib/limits/client.ts';
import type { KnownKeys } from '../../../lib/limits/known-keys.ts';
import { GatewayError, isGatewayError } from '../../gateway/errors.ts';
import type { OperationName } from '../../gateway/operations.ts';
import { TooManyAttemptsError } from './errors.ts';
import { TOKEN_CALLS, TRADING_LIMITS, type TradingLimiter } from './limits.ts';
import type { ProofLedger } from './proof.ts';
import { createTrialTurns, type Trial } from './trial-turns.ts';
import type { Viewer } from './viewer.ts';

const PATIENCE_MS = 2_000;
const RETRY_SECONDS = 1;
const KNOWN = 'the token was refused a moment ago';

export interface ProofTrialsParts {
  readonly clock: Clock;
  readonly limiter: TradingLimiter;
  /** The hashes of tokens that the gateway has accepted before, or `login` has returned. */
  readonly known: KnownKeys;
  /** The pairs of address and login that were proved lately. */
  readonly proved: KnownKeys;
  readonly ledger: Pick<ProofLedger, 'isAccepted' | 'isTried' | 'refused' | 'wasRefused'>;
}

export type ProofTrials = ReturnType<typeof createProofTrials>;

/**
 * Limits gateway calls with tokens that it has not accepted yet. Any client can write a token with any login in
 * it, so a refusal stands for a moment, and calls with unknown tokens are charged to their address: what is accepted is given
 * back, and once nothing is left they go by turns, so that the gateway is asked at a bounded pace and nobody who comes new
 * waits behind tokens that are refused. No entry is kept by login alone, which would be the victim's.
 */
export function createProofTrials({ clock, limiter, known, proved, ledger }: ProofTrialsParts) {
  const turns = createTrialTurns(clock, PATIENCE_MS);

  return {
    /** Its calls need no turns any more. */
    accepted(viewer: Viewer): void {
      const from = addressClient(viewer.client?.address).key;
      known.add(viewer.tokenHash);
      proved.add(pairOf(from, viewer));
      turns.wake(from);
    },
    /** From now on it is as good as a forged one. */
    refused: ({ tokenHash }: Viewer): void => known.delete(tokenHash),
    /** Throws where the call may not be made. */
    async guard<T>(viewer: Viewer, operation: OperationName, call: () => Promise<T>): Promise<T> {
      const { tokenHash, login, client, signal } = viewer;
      const own = singleClient('token', tokenHash);
      const from = addressClient(client?.address);
      let isProvedHere = false;
      let isCharged = false;
      const underWay = () => TOKEN_CALLS - limiter.take('calls', own, 0).left;
      const trial: Trial = {
        login,
        rank() {
          if (underWay() >= TOKEN_CALLS) return null;
          if (underWay() >= 1 || ledger.wasRefused(viewer)) return 'last';
          return isProvedHere ? 'proved here' : 'new';
        },
        isFree: () => ledger.isAccepted(viewer) || ledger.isTried(viewer, operation),
        begin() {
          if (underWay() >= TOKEN_CALLS) return false;
          isCharged = !limiter.take('trials', from).isOver;
          if (isCharged) limiter.spend('calls', own, 1);
          return isCharged;
        },
        roomInMs: () => limiter.take('trials', from, 0, 1).waitMs,
      };
      const mayBegin = () => trial.isFree() || (!turns.hasLine(from.key) && trial.begin());
      if (!known.hasHere(tokenHash) && !mayBegin() && !(await known.has(tokenHash))) {
        isProvedHere = await proved.has(pairOf(from.key, viewer));
        const isIn = mayBegin() || (await turns.wait(from.key, trial, signal));
        if (!isIn) throw new TooManyAttemptsError(RETRY_SECONDS, TRADING_LIMITS.trials.label);
      }
      let isRefused = false;
      try {
        // The error equals the gateway's own, because single flights share it.
        if (ledger.isTried(viewer, operation))
          throw new GatewayError('unauthenticated', operation, KNOWN);
        return await call();
      } catch (error) {
        isRefused = isGatewayError(error, 'unauthenticated') && error.status !== null;
        if (isRefused) ledger.refused(viewer, operation);
        throw error;
      } finally {
        if (isCharged) limiter.giveBack('calls', own);
        if (isCharged && !isRefused) limiter.giveBack('trials', from);
        turns.wake(from.key);
      }
    },
  };
}

function pairOf(address: string, { account }: Viewer): string {
  return hash('sha256', `${address} login ${account}`, 'base64url');
}
