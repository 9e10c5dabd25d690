import { GatewayError } from '../../gateway/errors.ts';
import { addressClient, type Client } from '../../lib/limits/client.ts';
import type { KnownKeys } from '../../lib/limits/known-keys.ts';
import { TooManyAttemptsError } from './errors.ts';
import { TRADING_LIMITS, type TradingLimiter } from './limits.ts';
import type { ProofLedger } from './proof.ts';
import type { Viewer } from './viewer.ts';

interface UnknownTokensParts {
  readonly limiter: TradingLimiter;
  /** The hashes of tokens that the gateway has accepted or `login` has returned. */
  readonly known: KnownKeys;
  readonly ledger: Pick<ProofLedger, 'isAccepted'>;
}

/** Overlapping gateway calls with one unknown token. */
interface Attempt {
  /** The address that was charged. */
  readonly address: Client;
  calls: number;
  /** If true, the proof is not given back. */
  isSpent: boolean;
}

/**
 * Limits gateway calls with unknown tokens, because any client can write a token with any login in it. An unknown token
 * costs its address one of the minute's proofs. The proof is given back unless the gateway refuses the token, or the client
 * leaves before the answer. Logins are not counted: a forged token would be charged to its victim.
 */
export class UnknownTokens {
  readonly #parts: UnknownTokensParts;
  /** Attempts by token hash. Overlapping calls of a token are one attempt until it is spent. */
  readonly #attempts = new Map<string, Attempt>();

  constructor(parts: UnknownTokensParts) {
    this.#parts = parts;
  }

  accepted({ tokenHash }: Viewer): void {
    this.#parts.known.add(tokenHash);
  }

  /** The token counts as unknown again. */
  refused({ tokenHash }: Viewer): void {
    this.#parts.known.delete(tokenHash);
  }

  /** Throws if the call is not allowed. */
  async guard<T>(viewer: Viewer, call: () => Promise<T>): Promise<T> {
    const { ledger, known } = this.#parts;
    const found = known.has(viewer.tokenHash);
    // Most tokens are known in this process. No promise is awaited for them.
    const isKnown = typeof found === 'boolean' ? found : await found;
    const attempt = isKnown || ledger.isAccepted(viewer) ? null : this.#begin(viewer);
    try {
      return await call();
    } catch (error) {
      if (attempt !== null && (isRefusal(error) || hasClientLeft(viewer, error)))
        attempt.isSpent = true;
      throw error;
    } finally {
      if (attempt !== null) this.#end(viewer, attempt);
    }
  }

  #begin({ tokenHash, client }: Viewer): Attempt {
    const underWay = this.#attempts.get(tokenHash);
    // A spent attempt is not joined. Otherwise a forged token whose calls overlap for hours would cost one proof in total.
    if (underWay !== undefined && !underWay.isSpent) {
      underWay.calls += 1;
      return underWay;
    }
    const address = addressClient(client?.address);
    const { isOver, waitMs } = this.#parts.limiter.take('proofs', address);
    if (isOver)
      throw new TooManyAttemptsError(Math.ceil(waitMs / 1000), TRADING_LIMITS.proofs.label);
    const attempt = { address, calls: 1, isSpent: false };
    this.#attempts.set(tokenHash, attempt);
    return attempt;
  }

  #end({ tokenHash }: Viewer, attempt: Attempt): void {
    attempt.calls -= 1;
    if (attempt.calls > 0) return;
    if (this.#attempts.get(tokenHash) === attempt) this.#attempts.delete(tokenHash);
    if (!attempt.isSpent) this.#parts.limiter.giveBack('proofs', attempt.address);
  }
}

/** A front proxy can answer a forged token with 403. */
function isRefusal(error: unknown): boolean {
  const isAnswer = error instanceof GatewayError && error.status !== null;
  return isAnswer && (error.kind === 'unauthenticated' || error.kind === 'forbidden');
}

/** The client left after the call was sent. With a refund, a flood of forged tokens that never wait would have no limit. */
function hasClientLeft({ signal }: Viewer, error: unknown): boolean {
  return signal?.aborted === true && error instanceof GatewayError && error.wasSent;
}
