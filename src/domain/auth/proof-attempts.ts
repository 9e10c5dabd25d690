import { GatewayError, isGatewayError } from '../../gateway/errors.ts';
import { OPERATIONS, type OperationName } from '../../gateway/operations.ts';
import { addressKey } from '../../lib/address-key.ts';
import type { Clock } from '../../lib/clock.ts';
import { growingLru } from '../../lib/growing-lru.ts';
import { TooManyAttemptsError } from './errors.ts';
import { UnprovedTurns } from './unproved-turns.ts';
import type { Viewer } from './viewer.ts';

export interface ProofAttemptsOptions {
  readonly clock: Clock;
  /** Tokens of one address that the gateway may refuse in a minute. */
  readonly perMinute?: number;
}

interface Attempts {
  sinceMs: number;
  failed: number;
  /** Null where no call is under way. */
  turns: UnprovedTurns | null;
}

const MINUTE_MS = 60_000;
const REMEMBERED_MS = 5_000;
const MOST_REMEMBERED = 50_000;

/**
 * Limits gateway calls with tokens that it has not accepted yet. Any client can write a token with any
 * login in it, so a refusal is cached for a moment, and an address that sends too many such tokens is
 * limited. No entry is kept by login, which would be the victim's. Valid tokens count only until they are
 * accepted, for an address may have thousands of people behind it.
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

  readonly #crowd = { waiting: 0 };

  constructor({ clock, perMinute = 120 }: ProofAttemptsOptions) {
    this.#clock = clock;
    this.#perMinute = perMinute;
  }

  get byteSize(): number {
    return this.#refusals.calculatedSize + this.#byAddress.calculatedSize;
  }

  /** Throws where the call may not be made. */
  async guard<T>(viewer: Viewer, operation: OperationName, call: () => Promise<T>): Promise<T> {
    this.#assertUnrefused(viewer, operation);
    const attempts = this.#attemptsOf(viewer);
    const turns = this.#turnsOf(attempts);
    // Tokens that are tried count as well, or a burst would pass before its first refusal.
    const entered =
      attempts.failed < this.#perMinute
        ? turns.enter(viewer.tokenHash, viewer.caller.signal)
        : null;
    const leave = entered instanceof Promise ? await entered : entered;
    if (leave === null) throw this.#tooMany(attempts);
    try {
      // Another call of the token may have been answered meanwhile.
      if (entered !== leave) this.#assertUnrefused(viewer, operation);
      return await call();
    } catch (error) {
      if (isGatewayError(error, 'unauthenticated') && error.status !== null) {
        this.#failed(viewer, operation, attempts);
      }
      throw error;
    } finally {
      leave();
      // Not `turns`, which accepted calls outlive.
      if (attempts.turns?.isIdle) attempts.turns = null;
    }
  }

  /** Earlier refusals of an accepted token no longer count. */
  accepted(viewer: Viewer): void {
    this.#refusals.delete(viewer.tokenHash);
    this.#byAddress.get(keyOf(viewer))?.turns?.accepted(viewer.tokenHash);
  }

  #failed({ tokenHash }: Viewer, operation: OperationName, attempts: Attempts): void {
    const refusals = this.#refusals.get(tokenHash) ?? new Map<string, number>();
    // Several calls of one request fail for the same reason and count as one token.
    if (![...refusals.values()].some((atMs) => this.#isRecent(atMs))) attempts.failed += 1;
    if (attempts.failed >= this.#perMinute) attempts.turns?.refuseWaiting();
    this.#refusals.set(tokenHash, refusals.set(concerns(operation), this.#clock.now()));
  }

  /** The error equals the gateway's own, because single flights share it. */
  #assertUnrefused({ tokenHash }: Viewer, operation: OperationName): void {
    if (!this.#isRecent(this.#refusals.get(tokenHash)?.get(concerns(operation)))) return;
    throw new GatewayError('unauthenticated', operation, 'the token was refused a moment ago');
  }

  #isRecent(atMs = Number.NEGATIVE_INFINITY): boolean {
    return this.#clock.now() - atMs < REMEMBERED_MS;
  }

  #attemptsOf(viewer: Viewer): Attempts {
    const key = keyOf(viewer);
    const nowMs = this.#clock.now();
    const known = this.#byAddress.get(key);
    if (known && nowMs - known.sinceMs < MINUTE_MS) return known;
    const attempts = known ?? { sinceMs: nowMs, failed: 0, turns: null };
    attempts.sinceMs = nowMs;
    attempts.failed = 0;
    this.#byAddress.set(key, attempts);
    return attempts;
  }

  #turnsOf(attempts: Attempts): UnprovedTurns {
    attempts.turns ??= new UnprovedTurns({
      clock: this.#clock,
      crowd: this.#crowd,
      mayTry: (tried) => attempts.failed + tried < this.#perMinute,
    });
    return attempts.turns;
  }

  #tooMany({ failed, sinceMs }: Attempts): TooManyAttemptsError {
    const waitMs = failed < this.#perMinute ? 0 : sinceMs + MINUTE_MS - this.#clock.now();
    return new TooManyAttemptsError(Math.max(1, Math.ceil(waitMs / 1000)), 'refused tokens');
  }
}

function keyOf({ caller }: Viewer): string {
  return addressKey(caller.client?.address ?? '');
}

/** A 401 of a read that proves is about the token, so about all such reads; a write's is about that write. */
function concerns(operation: OperationName): string {
  return OPERATIONS[operation].proves === 'nothing' ? operation : 'proof';
}
