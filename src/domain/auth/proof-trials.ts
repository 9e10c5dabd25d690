import { GatewayError, isGatewayError } from '../../gateway/errors.ts';
import { OPERATIONS, type OperationName } from '../../gateway/operations.ts';
import type { Clock } from '../../lib/clock.ts';
import { growingLru } from '../../lib/growing-lru.ts';
import { addressClient, type Client } from '../../lib/limits/client.ts';
import type { KnownKeys } from '../../lib/limits/known-keys.ts';
import type { Limiter } from '../../lib/limits/limiter.ts';
import { TooManyAttemptsError } from './errors.ts';
import type { Viewer } from './viewer.ts';

/** A token with calls under way, none of which the gateway has accepted yet. */
interface Trial {
  underWay: number;
  /** Whom it is charged to, unless it is known to be no forged one. */
  charged: Client | null;
  isAccepted: boolean;
}

const REMEMBERED_MS = 5_000;
const MOST_REMEMBERED = 50_000;
// Thousands of people may come from one address after a restart.
const PATIENCE_MS = 2_000;
const LOOK_MS = 20;
const RETRY_SECONDS = 1;

/**
 * Limits gateway calls with tokens that it has not accepted yet. Any client can write a token with any login in
 * it, so a refusal is remembered for a moment, and each unknown token is charged to its address until the gateway
 * accepts it. No entry is kept by login, which would be the victim's.
 */
export class ProofTrials {
  readonly #clock: Clock;
  readonly #limiter: Limiter;
  readonly #known: KnownKeys;
  readonly #trials = new Map<string, Trial>();
  /** The time of the last refusal, by token and operation. */
  readonly #refusals = growingLru<string, Map<string, number>>({
    maxEntries: MOST_REMEMBERED,
    entryBytes: 350,
  });

  /** `known`: the hashes of tokens that the gateway has accepted before, or `login` has returned. */
  constructor(clock: Clock, limiter: Limiter, known: KnownKeys) {
    this.#clock = clock;
    this.#limiter = limiter;
    this.#known = known;
  }

  get byteSize(): number {
    return this.#refusals.calculatedSize;
  }

  /** Throws where the call may not be made. */
  async guard<T>(viewer: Viewer, operation: OperationName, call: () => Promise<T>): Promise<T> {
    const { tokenHash, caller } = viewer;
    let isKnown = this.#known.hasHere(tokenHash);
    let trial = this.#enter(viewer, operation, isKnown);
    if (trial === null) isKnown ||= await this.#known.has(tokenHash);
    for (let waitedMs = 0; trial === null; waitedMs += LOOK_MS) {
      trial = this.#enter(viewer, operation, isKnown);
      if (trial !== null) break;
      // Only a trial that ends makes room in such a time.
      const isHopeless = caller.signal?.aborted || this.#trials.size === 0;
      if (isHopeless || waitedMs >= PATIENCE_MS) {
        throw new TooManyAttemptsError(RETRY_SECONDS, 'refused tokens');
      }
      await new Promise<void>((resolve) => this.#clock.after(LOOK_MS, resolve));
    }
    try {
      return await call();
    } catch (error) {
      if (isGatewayError(error, 'unauthenticated') && error.status !== null) {
        // Its several calls fail for the same reason and count as one token.
        trial.charged = null;
        const refusals = this.#refusals.get(tokenHash) ?? new Map<string, number>();
        this.#refusals.set(tokenHash, refusals.set(concerns(operation), this.#clock.now()));
      }
      throw error;
    } finally {
      trial.underWay -= 1;
      if (trial.underWay === 0) this.#end(tokenHash, trial);
    }
  }

  /** Its calls need no trial any more, and its earlier refusals no longer count. */
  accepted({ tokenHash }: Viewer): void {
    this.#refusals.delete(tokenHash);
    this.#known.add(tokenHash);
    const trial = this.#trials.get(tokenHash);
    if (trial === undefined) return;
    trial.isAccepted = true;
    this.#giveBack(trial);
  }

  /** From now on it is as good as a forged one. */
  refused({ tokenHash }: Viewer): void {
    this.#known.delete(tokenHash);
  }

  /** Null where its turn has not come. */
  #enter(viewer: Viewer, operation: OperationName, isKnown: boolean): Trial | null {
    const { tokenHash, caller } = viewer;
    this.#assertUnrefused(viewer, operation);
    let trial = this.#trials.get(tokenHash);
    if (trial === undefined) {
      const client = addressClient(caller.client?.address);
      if (!isKnown && this.#limiter.take('trials', client).isOver) return null;
      trial = { underWay: 0, charged: isKnown ? null : client, isAccepted: false };
      this.#trials.set(tokenHash, trial);
    }
    if (trial.underWay >= this.#limiter.table.calls.token && !trial.isAccepted) return null;
    trial.underWay += 1;
    return trial;
  }

  #end(tokenHash: string, trial: Trial): void {
    this.#trials.delete(tokenHash);
    this.#giveBack(trial);
  }

  #giveBack(trial: Trial): void {
    if (trial.charged !== null) this.#limiter.giveBack('trials', trial.charged);
    trial.charged = null;
  }

  /** The error equals the gateway's own, because single flights share it. */
  #assertUnrefused({ tokenHash }: Viewer, operation: OperationName): void {
    const refusedAtMs = this.#refusals.get(tokenHash)?.get(concerns(operation)) ?? -Infinity;
    if (this.#clock.now() - refusedAtMs >= REMEMBERED_MS) return;
    throw new GatewayError('unauthenticated', operation, 'the token was refused a moment ago');
  }
}

/** A 401 of a read that proves is about the token, so about all such reads; a write's is about that write. */
function concerns(operation: OperationName): string {
  return OPERATIONS[operation].proves === 'nothing' ? operation : 'proof';
}
