import { GatewayError, isGatewayError } from '../../gateway/errors.ts';
import { OPERATIONS, type OperationName } from '../../gateway/operations.ts';
import type { Clock } from '../../lib/clock.ts';
import { growingLru } from '../../lib/growing-lru.ts';
import { addressClient, singleClient } from '../../lib/limits/client.ts';
import type { KnownKeys } from '../../lib/limits/known-keys.ts';
import type { Limiter } from '../../lib/limits/limiter.ts';
import { REFUSED_TOKEN_CALLS } from '../../lib/limits/table.ts';
import { TooManyAttemptsError } from './errors.ts';
import type { ProofLedger } from './proof.ts';
import type { Viewer } from './viewer.ts';

const REMEMBERED_MS = 5_000;
const MOST_REMEMBERED = 50_000;
// Thousands of people may come from one address after a restart.
const PATIENCE_MS = 2_000;
const LOOK_MS = 20;
const RETRY_SECONDS = 1;

export type ProofTrials = ReturnType<typeof createProofTrials>;

/**
 * Limits gateway calls with tokens that it has not accepted yet. Any client can write a token with any login in
 * it, so a refusal is remembered for a moment, and calls with unknown tokens are charged to their address while they
 * are under way; what is refused stays charged. No entry is kept by login, which would be the victim's. `known`: the
 * hashes of tokens that the gateway has accepted before, or `login` has returned.
 */
export function createProofTrials(
  clock: Clock,
  limiter: Limiter,
  known: KnownKeys,
  ledger: Pick<ProofLedger, 'isAccepted'>,
) {
  /** The time of the last refusal, by token and operation. */
  const refusals = growingLru<string, Map<string, number>>({
    maxEntries: MOST_REMEMBERED,
    entryBytes: 350,
  });
  let underWay = 0;
  const isRecent = (atMs = -Infinity) => clock.now() - atMs < REMEMBERED_MS;

  /** False where a call of the same moment has failed for the same reason. */
  function remember({ tokenHash }: Viewer, operation: OperationName): boolean {
    const before = refusals.get(tokenHash) ?? new Map<string, number>();
    const isNews = ![...before.values()].some(isRecent);
    refusals.set(tokenHash, before.set(concerns(operation), clock.now()));
    return isNews;
  }

  /** The error equals the gateway's own, because single flights share it. */
  function assertUnrefused({ tokenHash }: Viewer, operation: OperationName): void {
    if (!isRecent(refusals.get(tokenHash)?.get(concerns(operation)))) return;
    throw new GatewayError('unauthenticated', operation, 'the token was refused a moment ago');
  }

  return {
    get byteSize(): number {
      return refusals.calculatedSize;
    },
    /** Its earlier refusals no longer count. */
    accepted({ tokenHash }: Viewer): void {
      refusals.delete(tokenHash);
      known.add(tokenHash);
    },
    /** From now on it is as good as a forged one. */
    refused: ({ tokenHash }: Viewer): void => known.delete(tokenHash),
    /** Throws where the call may not be made. */
    async guard<T>(viewer: Viewer, operation: OperationName, call: () => Promise<T>): Promise<T> {
      const { tokenHash, caller } = viewer;
      const own = singleClient('token', tokenHash);
      const from = addressClient(caller.client?.address);
      let isKnown = known.hasHere(tokenHash);
      let isCharged = false;
      const mayBegin = () => {
        assertUnrefused(viewer, operation);
        if (ledger.isAccepted(viewer)) return true;
        if (limiter.take('calls', own, 0).left < 1) return false;
        isCharged = isKnown || !limiter.take('trials', from).isOver;
        if (isCharged) limiter.spend('calls', own, 1);
        return isCharged;
      };
      if (!mayBegin()) isKnown ||= await known.has(tokenHash);
      for (let waitedMs = 0; !isCharged && !mayBegin(); waitedMs += LOOK_MS) {
        // Only a call that ends makes room in such a time.
        const isHopeless = caller.signal?.aborted || underWay === 0;
        if (isHopeless || waitedMs >= PATIENCE_MS) {
          throw new TooManyAttemptsError(RETRY_SECONDS, limiter.table.trials.label);
        }
        await new Promise<void>((resolve) => clock.after(LOOK_MS, resolve));
      }
      underWay += 1;
      try {
        return await call();
      } catch (error) {
        const isRefusal = isGatewayError(error, 'unauthenticated') && error.status !== null;
        const isNews = isRefusal && remember(viewer, operation);
        if (isNews && !isKnown) limiter.spend('trials', from, REFUSED_TOKEN_CALLS);
        throw error;
      } finally {
        underWay -= 1;
        if (isCharged) limiter.giveBack('calls', own);
        if (isCharged && !isKnown) limiter.giveBack('trials', from);
      }
    },
  };
}

/** A 401 of a read that proves is about the token, so about all such reads; a write's is about that write. */
function concerns(operation: OperationName): string {
  return OPERATIONS[operation].proves === 'nothing' ? operation : 'proof';
}
