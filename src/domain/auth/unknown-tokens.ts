import { GatewayError } from '../../gateway/errors.ts';
import { addressClient, type Client } from '../../lib/limits/client.ts';
import type { KnownKeys } from '../../lib/limits/known-keys.ts';
import { TooManyAttemptsError } from './errors.ts';
import { TRADING_LIMITS, type TradingLimiter } from './limits.ts';
import type { ProofLedger } from './proof.ts';
import type { Viewer } from './viewer.ts';

interface UnknownTokensParts {
  readonly limiter: TradingLimiter;
  /** The hashes of tokens that the gateway has accepted before, or `login` has returned. */
  readonly known: KnownKeys;
  readonly ledger: Pick<ProofLedger, 'isAccepted'>;
}

/** A token that the gateway is being asked about. */
interface Attempt {
  /** The address that it was charged to. */
  readonly address: Client;
  calls: number;
  /** Whether the proof is not given back. */
  isSpent: boolean;
}

/**
 * Limits gateway calls with unknown tokens, since any client can write a token with any login in it. An unknown token
 * costs its address one of a minute's proofs. The proof is given back unless the gateway refuses the token, or the client
 * leaves before the answer. Nothing is counted by login, which would be the victim's.
 */
export class UnknownTokens {
  readonly #parts: UnknownTokensParts;
  /** Attempts by the tokens' hashes. Overlapping calls of a token are one attempt, until one of them is refused. */
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

  /** Throws where the call may not be made. */
  async guard<T>(viewer: Viewer, call: () => Promise<T>): Promise<T> {
    const { ledger, known } = this.#parts;
    const found = known.has(viewer.tokenHash);
    // Most tokens are known here, and need no turn of the event loop.
    const isKnown = typeof found === 'boolean' ? found : await found;
    const attempt = isKnown || ledger.isAccepted(viewer) ? null : this.#begin(viewer);
    try {
      return await call();
    } catch (error) {
      if (attempt !== null && (isRefusal(error) || isLeft(viewer, error))) attempt.isSpent = true;
      throw error;
    } finally {
      if (attempt !== null) this.#end(viewer, attempt);
    }
  }

  #begin({ tokenHash, client }: Viewer): Attempt {
    const underWay = this.#attempts.get(tokenHash);
    // Calls that overlap for hours would else cost a forged token one proof in all.
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

/** A 403 may be a front's word for a forged token. */
function isRefusal(error: unknown): boolean {
  const isAnswer = error instanceof GatewayError && error.status !== null;
  return isAnswer && (error.kind === 'unauthenticated' || error.kind === 'forbidden');
}

/** Its client left once it was sent: given back, it would let a flood of forged tokens that never wait ask without end. */
function isLeft({ signal }: Viewer, error: unknown): boolean {
  return signal?.aborted === true && error instanceof GatewayError && error.wasSent;
}
