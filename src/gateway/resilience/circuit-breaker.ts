import type { Clock } from '../../lib/clock.ts';
import type { Health } from '../classify.ts';
import type { Area } from '../operation.ts';

/** How a breaker counts calls that were sent, and how it probes. */
export interface BreakerPolicy {
  /** With fewer calls than this, the sample of answers is too small. */
  readonly minCalls: number;
  /** The time between the starts of two probes. The first pause begins when the breaker opens. */
  readonly pauseMs: number;
  /**
   * How calls without an answer count. `failures`: like a 5xx. `silence`: they open the breaker once three accounts have
   * lost calls over at least two seconds, and no call was answered since the first loss. Then probes are left to accounts
   * that have not failed.
   */
  readonly losses: 'failures' | 'silence';
}

export const READS_AND_WRITES: BreakerPolicy = { minCalls: 10, pauseMs: 2_000, losses: 'failures' };
/**
 * An order that is sent into an outage ends unknown, so lost orders open the breaker. Three accounts can lose orders for
 * reasons of their own, so all orders have to be lost.
 */
export const ORDERS: BreakerPolicy = { minCalls: 5, pauseMs: 5_000, losses: 'silence' };

interface CircuitBreakerOptions {
  /** The operation; `orders` for both kinds of orders. */
  readonly name: string;
  readonly area: Area;
  readonly clock: Clock;
  readonly policy: BreakerPolicy;
  readonly onChange: (breaker: CircuitBreaker) => void;
}

/** The right to make one call. It is settled with the health that the call has shown. */
export interface Permit {
  readonly breaker: CircuitBreaker;
  /** The proved account of the caller; null if there is none. */
  readonly account: string | null;
  readonly isProbe: boolean;
  /** The number of the open or closed period, so that a late answer does not count in a later period. */
  readonly era: number;
  readonly atMs: number;
}

const WINDOW_MS = 10_000;
// No client can make a connection fail, so a few failures are enough, from any callers.
const MIN_UNREACHABLE = 5;
// Among thousands of accounts, two often fail at the same time for separate reasons. Three rarely do.
const MIN_ACCOUNTS = 3;
// This many accounts are enough to show that the failures are not one account's. A flood must not fill the memory.
const MAX_ACCOUNTS = 64;
const MIN_SILENCE_MS = 2_000;
/** How long a due probe is left to the accounts that have not failed. */
const OTHERS_FIRST_MS = 3_000;

/** Holds calls back from a failing backend. Now and then it admits one, to see whether the backend has recovered. */
export class CircuitBreaker {
  readonly name: string;
  readonly area: Area;
  readonly #options: CircuitBreakerOptions;
  #counted: Counted;
  #silence = noLosses();
  #era = 0;
  #openedAtMs: number | null = null;
  #probedAtMs = 0;
  #answeredAtMs = Number.NEGATIVE_INFINITY;
  #cause: string | null = null;
  /** The accounts that have failed or probed since shortly before the breaker opened. */
  #tried = new Set<string>();

  constructor(options: CircuitBreakerOptions) {
    this.name = options.name;
    this.area = options.area;
    this.#options = options;
    this.#counted = noCalls(options.clock);
  }

  get isOpen(): boolean {
    return this.#openedAtMs !== null;
  }

  /** Why the last call failed; null after a success. */
  get cause(): string | null {
    return this.#cause;
  }

  /** When it opened; null while it is closed. */
  get openedAtMs(): number | null {
    return this.#openedAtMs;
  }

  /** When the latest answered call was made. */
  get answeredAtMs(): number {
    return this.#answeredAtMs;
  }

  /** Returns null if the call must be held back. */
  admit(account: string | null): Permit | null {
    const atMs = this.#options.clock.now();
    if (!this.isOpen) return this.#permit(account, atMs, false);
    const { pauseMs, losses } = this.#options.policy;
    const name = account ?? '';
    const mustWait = losses === 'silence' && this.#tried.has(name);
    if (atMs < this.#probedAtMs + pauseMs + (mustWait ? OTHERS_FIRST_MS : 0)) return null;
    // No other account has called, so this one probes. The next probe is left to the others.
    if (mustWait) this.#tried.clear();
    if (this.#tried.size < MAX_ACCOUNTS) this.#tried.add(name);
    // The pause counts from the probe's start: a probe that hangs must not delay the next.
    this.#probedAtMs = atMs;
    return this.#permit(account, atMs, true);
  }

  settle(permit: Permit, health: Health, cause: string | null): void {
    // The call was sent before the breaker last opened or closed, so its answer says nothing about now.
    if (permit.era !== this.#era) return;
    if (permit.isProbe) this.#probed(permit, health, cause);
    else if (health === 'success') this.#answered(permit);
    else if (health !== 'none' && health !== 'foreign') this.#failed(permit, health, cause);
  }

  /** Opens the breaker for a reason outside its own calls. The next call is a probe. */
  trip(): void {
    this.#open();
    this.#probedAtMs = Number.NEGATIVE_INFINITY;
  }

  #permit(account: string | null, atMs: number, isProbe: boolean): Permit {
    return { breaker: this, account, isProbe, era: this.#era, atMs };
  }

  #open(): void {
    this.#tried = new Set([...this.#counted.failures.keys(), ...this.#silence.accounts]);
    this.#beginEra(this.#options.clock.now());
  }

  #beginEra(openedAtMs: number | null): void {
    this.#openedAtMs = openedAtMs;
    this.#era += 1;
    this.#probedAtMs = this.#options.clock.now();
    this.#counted = noCalls(this.#options.clock);
    this.#silence = noLosses();
    this.#options.onChange(this);
  }

  #probed(permit: Permit, health: Health, cause: string | null): void {
    if (health === 'success') {
      this.#beginEra(null);
      this.#answered(permit);
    }
    // A probe without a verdict costs no pause. Otherwise refused tokens could use up every probe.
    else if (health === 'none') this.#probedAtMs = Number.NEGATIVE_INFINITY;
    else this.#cause = cause;
  }

  #answered({ atMs }: Permit): void {
    this.#cause = null;
    this.#current().successes += 1;
    this.#answeredAtMs = Math.max(this.#answeredAtMs, atMs);
    if (this.#silence.accounts.size > 0) this.#silence = noLosses();
  }

  /** A client can appear as many unproved callers, so their failures count only if no connection was made. */
  #failed(permit: Permit, health: Health, cause: string | null): void {
    const { account } = permit;
    const counted = this.#current();
    if (health === 'unreachable') counted.unreachable += 1;
    else if (account === null) return;
    else if (health === 'lost' && this.#options.policy.losses === 'silence') {
      this.#lost(permit, account);
    } else {
      const { failures } = counted;
      counted.failed += 1;
      const before = failures.get(account) ?? 0;
      if (before > 0 || failures.size < MAX_ACCOUNTS) failures.set(account, before + 1);
    }
    this.#cause = cause;
    if (this.#isFailing() || this.#isSilent()) this.#open();
  }

  #lost({ atMs }: Permit, account: string): void {
    // A call from before the last answer shows nothing about the time since, however late it ends.
    if (atMs < this.#answeredAtMs) return;
    const { accounts } = this.#silence;
    this.#silence.lastMs = this.#options.clock.now();
    if (accounts.size === 0) this.#silence.sinceMs = this.#silence.lastMs;
    if (accounts.size < MAX_ACCOUNTS) accounts.add(account);
  }

  #isSilent(): boolean {
    const { accounts, sinceMs, lastMs } = this.#silence;
    return accounts.size >= MIN_ACCOUNTS && lastMs - sinceMs >= MIN_SILENCE_MS;
  }

  /** All calls of a window are forgotten together. */
  #current(): Counted {
    const { clock } = this.#options;
    if (clock.now() - this.#counted.sinceMs >= WINDOW_MS) this.#counted = noCalls(clock);
    return this.#counted;
  }

  #isFailing(): boolean {
    const { successes, unreachable, failed, failures } = this.#counted;
    const byAccount = [...failures.values()];
    const isHalf = (count: number) => count >= (successes + unreachable + failed) / 2;
    if (unreachable >= MIN_UNREACHABLE && isHalf(unreachable)) return true;
    if (successes + failed < this.#options.policy.minCalls || !isHalf(failed)) return false;
    return byAccount.length >= MIN_ACCOUNTS && Math.max(...byAccount) <= failed / 2;
  }
}

/** The calls of one window. */
interface Counted {
  readonly sinceMs: number;
  successes: number;
  unreachable: number;
  /** All failures. */
  failed: number;
  /** The failures of the first accounts. */
  readonly failures: Map<string, number>;
}

function noCalls(clock: Clock): Counted {
  return { sinceMs: clock.now(), successes: 0, unreachable: 0, failed: 0, failures: new Map() };
}

/** The losses since the last answer: their accounts, and when the first and the last loss ended. */
function noLosses() {
  return { accounts: new Set<string>(), sinceMs: 0, lastMs: 0 };
}
