import { GatewayError } from '../../gateway/gateway-error.ts';
import type { KnownKeys } from '../../lib/limits/known-keys.ts';
import { addressClient, type Client } from '../../lib/limits/request-caller.ts';
import type { ProofLedger } from './proof.ts';
import { TooManyAttemptsError, TRADING_LIMITS, type TradingLimiter } from './trading-limits.ts';
import type { Viewer } from './viewer.ts';

interface UnknownTokensParts {
  readonly limiter: TradingLimiter;
  /** The hashes of tokens that the gateway has accepted or `login` has returned. */
  readonly known: KnownKeys;
  readonly ledger: Pick<ProofLedger, 'isAccepted' | 'onRefused'>;
}

/** Overlapping gateway calls with one unknown token. */
interface Attempt {
  /** The address that was charged. */
  readonly address: Client;
  calls: number;
  /** If true, the charge is not given back. */
  isSpent: boolean;
}

/**
 * Limits gateway calls with unknown tokens, because any client can write a token with any login in it. An unknown token is
 * charged to its address, by the limit `proofs`. The charge is given back, except if the gateway refuses the token or the
 * client leaves before the answer. The token's login is not charged: a forged token would use up its victim's limit.
 */
export class UnknownTokens {
  readonly #parts: UnknownTokensParts;
  /** Attempts by token hash. Overlapping calls of a token are one attempt until it is spent. */
  readonly #attempts = new Map<string, Attempt>();

  constructor(parts: UnknownTokensParts) {
    this.#parts = parts;
    // A refused token counts as unknown again.
    parts.ledger.onRefused(({ tokenHash }) => parts.known.delete(tokenHash));
  }

  accepted({ tokenHash }: Viewer): void {
    this.#parts.known.add(tokenHash);
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
      const isSpent = isRefusal(error) || hasClientLeft(viewer, error);
      if (attempt !== null && isSpent) attempt.isSpent = true;
      throw error;
    } finally {
      if (attempt !== null) this.#end(viewer, attempt);
    }
  }

  #begin({ tokenHash, client }: Viewer): Attempt {
    const underWay = this.#attempts.get(tokenHash);
    // A spent attempt is not joined, or a forged token whose calls overlap for hours would be charged only once.
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

/** A 403 counts too: a proxy in front of the gateway can answer a forged token with it. */
function isRefusal(error: unknown): boolean {
  const isAnswer = error instanceof GatewayError && error.status !== null;
  return isAnswer && (error.kind === 'unauthenticated' || error.kind === 'forbidden');
}

/** Whether the client left after the call was sent. With a refund, forged tokens of such clients would be unlimited. */
function hasClientLeft({ signal }: Viewer, error: unknown): boolean {
  return signal?.aborted === true && error instanceof GatewayError && error.wasSent;
}
