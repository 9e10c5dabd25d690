import type { Clock } from '../../../lib/clock.ts';
import { addressClient, singleClient } from '../../../lib/limits/client.ts';
import type { KnownKeys } from '../../../lib/limits/known-keys.ts';
import { GatewayError, isGatewayError } from '../../gateway/errors.ts';
import type { OperationName } from '../../gateway/operations.ts';
import { TooManyAttemptsError } from './errors.ts';
import { REFUSED_TOKEN_CALLS, TRADING_LIMITS, type TradingLimiter } from './limits.ts';
import type { ProofLedger } from './proof.ts';
import { createQueue } from './queue.ts';
import type { Viewer } from './viewer.ts';

// Thousands of people may come from one address after a restart.
const PATIENCE_MS = 2_000;
const RETRY_SECONDS = 1;
const KNOWN = 'the token was refused a moment ago';

export type ProofTrials = ReturnType<typeof createProofTrials>;

/**
 * Limits gateway calls with tokens that it has not accepted yet. Any client can write a token with any login in
 * it, so a refusal stands for a moment, and calls with unknown tokens are charged to their address while they
 * are under way; what is refused stays charged. No entry is kept by login, which would be the victim's. `known`: the
 * hashes of tokens that the gateway has accepted before, or `login` has returned.
 */
export function createProofTrials(
  clock: Clock,
  limiter: TradingLimiter,
  known: KnownKeys,
  ledger: Pick<ProofLedger, 'isAccepted' | 'isTried' | 'refused'>,
) {
  const queue = createQueue(clock, PATIENCE_MS);
  let underWay = 0;

  return {
    /** Its calls need no turns any more. */
    accepted({ tokenHash }: Viewer): void {
      known.add(tokenHash);
      queue.wake(singleClient('token', tokenHash).key);
    },
    /** From now on it is as good as a forged one. */
    refused: ({ tokenHash }: Viewer): void => known.delete(tokenHash),
    /** Throws where the call may not be made. */
    async guard<T>(viewer: Viewer, operation: OperationName, call: () => Promise<T>): Promise<T> {
      const { tokenHash, client, signal } = viewer;
      const own = singleClient('token', tokenHash);
      const from = addressClient(client?.address);
      let isKnown = known.hasHere(tokenHash);
      let isCharged = false;
      const isOwnFull = () => !isKnown && limiter.take('calls', own, 0).left < 1;
      const mayBegin = () => {
        if (ledger.isAccepted(viewer) || ledger.isTried(viewer, operation)) return true;
        if (isOwnFull()) return false;
        isCharged = isKnown || !limiter.take('trials', from).isOver;
        if (isCharged) limiter.spend('calls', own, 1);
        return isCharged;
      };
      if (!mayBegin()) {
        isKnown ||= await known.has(tokenHash);
        const line = isOwnFull() ? own.key : from.key;
        // Only a call that ends makes room in such a time.
        const isIn = mayBegin() || (underWay > 0 && (await queue.wait(line, mayBegin, signal)));
        if (!isIn) throw new TooManyAttemptsError(RETRY_SECONDS, TRADING_LIMITS.trials.label);
      }
      underWay += 1;
      try {
        // The error equals the gateway's own, because single flights share it.
        if (ledger.isTried(viewer, operation))
          throw new GatewayError('unauthenticated', operation, KNOWN);
        return await call();
      } catch (error) {
        const isRefusal = isGatewayError(error, 'unauthenticated') && error.status !== null;
        const isNews = isRefusal && ledger.refused(viewer, operation);
        if (isNews && !isKnown) limiter.spend('trials', from, REFUSED_TOKEN_CALLS);
        throw error;
      } finally {
        underWay -= 1;
        if (isCharged) limiter.giveBack('calls', own);
        if (isCharged && !isKnown) limiter.giveBack('trials', from);
        queue.wake(own.key);
        queue.wake(from.key);
      }
    },
  };
}
