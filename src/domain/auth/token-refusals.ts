import type { OperationName } from '../../gateway/operations.ts';
import type { Clock } from '../../lib/clock.ts';
import type { KnownKeys } from '../../lib/limits/known-keys.ts';
import type { Log } from '../../lib/log.ts';
import type { Viewer } from './viewer.ts';

/** The source of a refusal: an operation of the gateway, or the check of the signature here. */
export type Refuser = OperationName | 'verification';

export interface TokenRefusalsOptions {
  /** A monotonic clock. */
  readonly clock: Clock;
  /** The time by which the gateway judges a token's expiry. */
  readonly gatewayNow: () => number;
  readonly log: Pick<Log, 'warn' | 'info'>;
  readonly known: Pick<KnownKeys, 'isNew'>;
  /** Called with each refusal; `known`: of a token that is beyond doubt. */
  readonly onRefused: (refuser: Refuser, token: 'known' | 'unknown') => void;
}

interface Shares {
  /** Accounts that called within the minute with a token that is beyond doubt. */
  readonly accounts: number;
  /** The number of them whose last call was refused. */
  readonly refused: number;
}

interface Fault {
  readonly sinceMs: number;
  reviewedAtMs: number;
  shares: Shares;
}

const MINUTE_SECONDS = 60;
// Fewer may have been revoked in the same minute.
const LEAST_ACCOUNTS = 5;
const REVIEW_MS = 1_000;
/** A power of two. Accounts that share a slot are sampled: the last of them to call stands for all. */
const SLOTS = 4_096;

/**
 * Sees that the gateway refuses tokens which are beyond doubt, for most accounts that call an operation: a
 * stale key in one of its backends looks, call by call, like users whose sessions are over. Only a token that
 * was accepted before the call, or that `login` has just returned, is evidence; anybody can write another.
 */
export class TokenRefusals {
  readonly #options: TokenRefusalsOptions;
  /** For each slot of accounts the second of its last call, doubled, and one more where that was refused. */
  readonly #slots: { [refuser in Refuser]?: Int32Array } = {};
  readonly #faults = new Map<Refuser, Fault>();

  constructor(options: TokenRefusalsOptions) {
    this.#options = options;
  }

  get byteSize(): number {
    return Object.keys(this.#slots).length * SLOTS * Int32Array.BYTES_PER_ELEMENT;
  }

  /** Called with each acceptance, and so without any allocation. */
  accepted(refuser: Refuser, login: string): void {
    this.#slotsOf(refuser)[slotOf(login)] = this.#second() * 2;
    if (this.#faults.size > 0) this.#review(refuser);
  }

  /**
   * `wasAccepted`: the gateway had accepted the token before the call. Tokens that are not beyond doubt count
   * only for accounts that a fault has hit already.
   */
  refused(refuser: Refuser, viewer: Viewer, wasAccepted: boolean): void {
    const { login, tokenHash, expiresAtMs } = viewer;
    const { known, gatewayNow, onRefused } = this.#options;
    const isKnown =
      (wasAccepted || known.isNew(tokenHash)) &&
      (expiresAtMs === null || expiresAtMs > gatewayNow());
    onRefused(refuser, isKnown ? 'known' : 'unknown');
    const slots = this.#slotsOf(refuser);
    const slot = slotOf(login);
    const wasRefused = ((slots[slot] as number) & 1) === 1;
    if (!isKnown && !(wasRefused && this.#faults.has(refuser))) return;
    slots[slot] = this.#second() * 2 + 1;
    if (this.#faults.has(refuser)) this.#review(refuser);
    else this.#begin(refuser);
  }

  isRefusing(refuser: Refuser): boolean {
    this.#review(refuser);
    return this.#faults.has(refuser);
  }

  degradedReason(): string | null {
    for (const refuser of [...this.#faults.keys()]) this.#review(refuser);
    const details = [...this.#faults].map(
      ([refuser, { shares }]) => `${refuser}: ${shares.refused} of ${shares.accounts} accounts`,
    );
    return details.length === 0 ? null : `known tokens are refused by ${details.join(', ')}`;
  }

  #begin(refuser: Refuser): void {
    const shares = this.#sharesOf(refuser);
    if (!isFault(shares)) return;
    const nowMs = this.#options.clock.now();
    this.#faults.set(refuser, { sinceMs: nowMs, reviewedAtMs: nowMs, shares });
    this.#options.log.warn({ operation: refuser, ...shares }, 'known tokens are refused');
  }

  #review(refuser: Refuser): void {
    const fault = this.#faults.get(refuser);
    const nowMs = this.#options.clock.now();
    if (fault === undefined || nowMs - fault.reviewedAtMs < REVIEW_MS) return;
    fault.reviewedAtMs = nowMs;
    fault.shares = this.#sharesOf(refuser);
    const { accounts, refused } = fault.shares;
    if (refused * 2 > accounts) return;
    this.#faults.delete(refuser);
    const seconds = Math.round((nowMs - fault.sinceMs) / 1000);
    this.#options.log.info({ operation: refuser, seconds }, 'known tokens are refused no more');
  }

  #sharesOf(refuser: Refuser): Shares {
    const oldest = (this.#second() - MINUTE_SECONDS) * 2;
    let [accounts, refused] = [0, 0];
    for (const state of this.#slotsOf(refuser)) {
      if (state === 0 || state < oldest) continue;
      accounts += 1;
      refused += state & 1;
    }
    return { accounts, refused };
  }

  #slotsOf(refuser: Refuser): Int32Array {
    this.#slots[refuser] ??= new Int32Array(SLOTS);
    return this.#slots[refuser];
  }

  /** From 1, for 0 is a slot that nobody has called from. */
  #second(): number {
    return Math.floor(this.#options.clock.now() / 1000) + 1;
  }
}

function isFault({ accounts, refused }: Shares): boolean {
  return refused >= LEAST_ACCOUNTS && refused * 2 > accounts;
}

function slotOf(login: string): number {
  let hash = 0;
  for (let at = 0; at < login.length; at += 1) hash = Math.imul(hash, 31) + login.charCodeAt(at);
  return hash & (SLOTS - 1);
}
