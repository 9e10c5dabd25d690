import { GatewayError, isGatewayError } from '../../gateway/errors.ts';
import { OPERATIONS, type OperationName } from '../../gateway/operations.ts';
import { addressKey } from '../../lib/address-key.ts';
import type { Clock } from '../../lib/clock.ts';
import { growingLru } from '../../lib/growing-lru.ts';
import { TooManyAttemptsError } from './errors.ts';
import type { Viewer } from './viewer.ts';

export interface ProofAttemptsOptions {
  readonly clock: Clock;
  /** Tokens of one address that the gateway may refuse in a minute. */
  readonly perMinute?: number;
}

interface Attempts {
  sinceMs: number;
  failed: number;
  underWay: number;
}

const MINUTE_MS = 60_000;
const REMEMBERED_MS = 5_000;
const MOST_REMEMBERED = 50_000;

/**
 * Limits gateway calls with tokens that it has not accepted yet. Any client can write a token with any
 * login in it, so a refusal is cached for a moment, and an address that sends too many such tokens is
 * limited. No entry is kept by login, which would be the victim's.
 */
export class ProofAttempts {
  readonly #clock: Clock;
  readonly #perMinute: number;
  /** The time of the last refusal, by token and operation. */
  readonly #refusals = growingLru<string, Map<string, number>>({
    maxEntries: MOST_REMEMBERED,
    entryBytes: 350,
  });
  readonly #byAddress = growingLru<string, Attempts>({
    maxEntries: MOST_REMEMBERED,
    entryBytes: 180,
  });

  constructor({ clock, perMinute = 120 }: ProofAttemptsOptions) {
    this.#clock = clock;
    this.#perMinute = perMinute;
  }

  get byteSize(): number {
    return this.#refusals.calculatedSize + this.#byAddress.calculatedSize;
  }

  /** Throws where the call may not be made. */
  async guard<T>(viewer: Viewer, operation: OperationName, call: () => Promise<T>): Promise<T> {
    // The error equals the gateway's own, because single flights share it.
    if (this.#isRefused(viewer, operation)) {
      throw new GatewayError('unauthenticated', operation, 'the token was refused a moment ago');
    }
    const attempts = this.#attemptsOf(viewer);
    // Attempts in flight count as well, or a burst would pass before its first refusal.
    if (attempts.failed + attempts.underWay >= this.#perMinute) {
      const waitMs = attempts.sinceMs + MINUTE_MS - this.#clock.now();
      throw new TooManyAttemptsError(
        attempts.failed >= this.#perMinute ? Math.max(1, Math.ceil(waitMs / 1000)) : 1,
        'refused tokens',
      );
    }
    attempts.underWay += 1;
    try {
      return await call();
    } catch (error) {
      if (isGatewayError(error, 'unauthenticated')) {
        this.#failed(viewer, operation, attempts);
      }
      throw error;
    } finally {
      attempts.underWay -= 1;
    }
  }

  /** Earlier refusals of an accepted token no longer count. */
  accepted({ tokenHash }: Viewer): void {
    this.#refusals.delete(tokenHash);
  }

  #failed({ tokenHash }: Viewer, operation: OperationName, attempts: Attempts): void {
    const refusals = this.#refusals.get(tokenHash) ?? new Map<string, number>();
    // Several calls of one request fail for the same reason and count as one token.
    if (![...refusals.values()].some((atMs) => this.#isRecent(atMs))) attempts.failed += 1;
    this.#refusals.set(tokenHash, refusals.set(concerns(operation), this.#clock.now()));
  }

  #isRefused({ tokenHash }: Viewer, operation: OperationName): boolean {
    return this.#isRecent(this.#refusals.get(tokenHash)?.get(concerns(operation)));
  }

  #isRecent(atMs = Number.NEGATIVE_INFINITY): boolean {
    return this.#clock.now() - atMs < REMEMBERED_MS;
  }

  #attemptsOf({ caller }: Viewer): Attempts {
    const key = addressKey(caller.client?.address ?? '');
    const nowMs = this.#clock.now();
    const known = this.#byAddress.get(key);
    if (known && nowMs - known.sinceMs < MINUTE_MS) return known;
    const attempts = known ?? { sinceMs: nowMs, failed: 0, underWay: 0 };
    attempts.sinceMs = nowMs;
    attempts.failed = 0;
    this.#byAddress.set(key, attempts);
    return attempts;
  }
}

/** A 401 of a read that proves is about the token, so about all such reads; a write's is about that write. */
function concerns(operation: OperationName): string {
  return OPERATIONS[operation].proves === 'nothing' ? operation : 'proof';
}
