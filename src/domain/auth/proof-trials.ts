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

type Ledger = Pick<ProofLedger, 'isAccepted'>;

const REMEMBERED_MS = 5_000;
const MOST_REMEMBERED = 50_000;
// Thousands of people may come from one address after a restart.
const PATIENCE_MS = 2_000;
const LOOK_MS = 20;
const RETRY_SECONDS = 1;

/**
 * Limits gateway calls with tokens that it has not accepted yet. Any client can write a token with any login in
 * it, so a refusal is remembered for a moment, and calls with unknown tokens are charged to their address while they
 * are under way; what is refused stays charged. No entry is kept by login, which would be the victim's.
 */
export class ProofTrials {
  readonly #clock: Clock;
  readonly #limiter: Limiter;
  readonly #known: KnownKeys;
  readonly #ledger: Ledger;
  /** The time of the last refusal, by token and operation. */
  readonly #refusals = growingLru<string, Map<string, number>>({
    maxEntries: MOST_REMEMBERED,
    entryBytes: 350,
  });
  #underWay = 0;

  /** `known`: the hashes of tokens that the gateway has accepted before, or `login` has returned. */
  constructor(clock: Clock, limiter: Limiter, known: KnownKeys, ledger: Ledger) {
    this.#clock = clock;
    this.#limiter = limiter;
    this.#known = known;
    this.#ledger = ledger;
  }

  get byteSize(): number {
    return this.#refusals.calculatedSize;
  }

  /** Throws where the call may not be made. */
  async guard<T>(viewer: Viewer, operation: OperationName, call: () => Promise<T>): Promise<T> {
    const { tokenHash, caller } = viewer;
    const own = singleClient('token', tokenHash);
    const from = addressClient(caller.client?.address);
    let isKnown = this.#known.hasHere(tokenHash);
    const mayBegin = () => {
      this.#assertUnrefused(viewer, operation);
      if (this.#ledger.isAccepted(viewer)) return true;
      if (this.#limiter.take('calls', own, 0).left < 1) return false;
      if (!isKnown && this.#limiter.take('trials', from).isOver) return false;
      this.#limiter.spend('calls', own, 1);
      isCharged = true;
      return true;
    };
    let isCharged = false;
    if (!mayBegin()) {
      isKnown ||= await this.#known.has(tokenHash);
      for (let waitedMs = 0; !mayBegin(); waitedMs += LOOK_MS) {
        // Only a call that ends makes room in such a time.
        const isHopeless = caller.signal?.aborted || this.#underWay === 0;
        if (isHopeless || waitedMs >= PATIENCE_MS) {
          throw new TooManyAttemptsError(RETRY_SECONDS, this.#limiter.table.trials.label);
        }
        await new Promise<void>((resolve) => this.#clock.after(LOOK_MS, resolve));
      }
    }
    this.#underWay += 1;
    try {
      return await call();
    } catch (error) {
      const isRefusal = isGatewayError(error, 'unauthenticated') && error.status !== null;
      const isNews = isRefusal && this.#remember(viewer, operation);
      if (isNews && !isKnown) this.#limiter.spend('trials', from, REFUSED_TOKEN_CALLS);
      throw error;
    } finally {
      this.#underWay -= 1;
      if (isCharged) this.#limiter.giveBack('calls', own);
      if (isCharged && !isKnown) this.#limiter.giveBack('trials', from);
    }
  }

  /** Its earlier refusals no longer count. */
  accepted({ tokenHash }: Viewer): void {
    this.#refusals.delete(tokenHash);
    this.#known.add(tokenHash);
  }

  /** From now on it is as good as a forged one. */
  refused({ tokenHash }: Viewer): void {
    this.#known.delete(tokenHash);
  }

  /** False where a call of the same moment has failed for the same reason. */
  #remember({ tokenHash }: Viewer, operation: OperationName): boolean {
    const before = this.#refusals.get(tokenHash) ?? new Map<string, number>();
    const isNews = ![...before.values()].some((atMs) => this.#isRecent(atMs));
    this.#refusals.set(tokenHash, before.set(concerns(operation), this.#clock.now()));
    return isNews;
  }

  /** The error equals the gateway's own, because single flights share it. */
  #assertUnrefused({ tokenHash }: Viewer, operation: OperationName): void {
    if (!this.#isRecent(this.#refusals.get(tokenHash)?.get(concerns(operation)))) return;
    throw new GatewayError('unauthenticated', operation, 'the token was refused a moment ago');
  }

  #isRecent(atMs = -Infinity): boolean {
    return this.#clock.now() - atMs < REMEMBERED_MS;
  }
}

/** A 401 of a read that proves is about the token, so about all such reads; a write's is about that write. */
function concerns(operation: OperationName): string {
  return OPERATIONS[operation].proves === 'nothing' ? operation : 'proof';
}
