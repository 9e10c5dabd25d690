import type { Clock } from '../../lib/clock.ts';
import type { Health } from '../classify.ts';

/** How a breaker counts calls that were sent, and how it probes. */
export interface BreakerPolicy {
  /** Fewer calls than this are too small a sample of answers. */
  readonly minCalls: number;
  /** Between the starts of two probes, the first counted from when it opened. */
  readonly pauseMs: number;
  /**
   * Calls without an answer: `failures` count like a 5xx; `silence` opens it once three accounts have lost calls within at least
   * two seconds and nobody was answered since the first of them. Then a probe is left to accounts that have not failed.
   */
  readonly losses: 'failures' | 'silence';
}

export const READS_AND_WRITES: BreakerPolicy = { minCalls: 10, pauseMs: 2_000, losses: 'failures' };
/** An order that is sent into an outage ends unknown, while those of three accounts may be lost for a reason of theirs. */
export const ORDERS: BreakerPolicy = { minCalls: 5, pauseMs: 5_000, losses: 'silence' };

interface CircuitBreakerOptions {
  readonly clock: Clock;
  readonly policy: BreakerPolicy;
  readonly onChange: (isOpen: boolean) => void;
}

/** The right to make one call; it is settled with what the call has shown. */
interface Permit {
  readonly isProbe: boolean;
  /** Closed and open periods are numbered, so that a late answer does not count in a later one. */
  readonly era: number;
  readonly atMs: number;
}

/** What an ended call has shown of the gateway. */
interface Shown {
  readonly health: Health;
  /** The proved account that called; null: none. */
  readonly account: string | null;
  /** Why the call failed. */
  readonly cause: string | null;
}

const WINDOW_MS = 10_000;
// No client can make a connection fail, so a few failures are enough, whoever has made the calls.
const MIN_UNREACHABLE = 5;
// Among thousands two accounts often fail at the same time, each for a reason of its own. Three rarely do.
const MIN_ACCOUNTS = 3;
// Enough to see that the failures are not one account's; a flood of logins must not fill the memory.
const MAX_ACCOUNTS = 64;
const MIN_SILENCE_MS = 2_000;
/** How long a probe that is due waits for an account that has not failed. */
const LEFT_MS = 3_000;

/** Holds calls back from a backend that fails. Now and then it lets one pass, to see whether the backend recovers. It sets no timers. */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  #counted: Counted;
  #silence = noLosses();
  #era = 0;
  #openedAtMs: number | null = null;
  #probedAtMs = 0;
  #answeredAtMs = Number.NEGATIVE_INFINITY;
  #cause: string | null = null;
  /** The accounts that have failed, or probed, since shortly before it opened. */
  #tried = new Set<string>();

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
    this.#counted = noCalls(options.clock);
  }

  get isOpen(): boolean {
    return this.#openedAtMs !== null;
  }

  /** Why the last call failed; null once one succeeded. */
  get cause(): string | null {
    return this.#cause;
  }

  /** When it opened; null while it is closed. */
  get openedAtMs(): number | null {
    return this.#openedAtMs;
  }

  /** When the call was made that was answered last. */
  get answeredAtMs(): number {
    return this.#answeredAtMs;
  }

  /** Returns null while the call is to be held back. */
  admit(account: string | null): Permit | null {
    const atMs = this.#options.clock.now();
    if (!this.isOpen) return { isProbe: false, era: this.#era, atMs };
    const { pauseMs, losses } = this.#options.policy;
    const name = account ?? '';
    const isLeft = losses === 'silence' && this.#tried.has(name);
    if (atMs < this.#probedAtMs + pauseMs + (isLeft ? LEFT_MS : 0)) return null;
    // No other account has called, so this one probes, and the next probe is left to the others.
    if (isLeft) this.#tried.clear();
    if (this.#tried.size < MAX_ACCOUNTS) this.#tried.add(name);
    // The pause counts from the probe's start: one that hangs must not delay the next.
    this.#probedAtMs = atMs;
    return { isProbe: true, era: this.#era, atMs };
  }

  settle(permit: Permit, shown: Shown): void {
    const { health } = shown;
    // The call was sent before the breaker opened or closed, so that its answer says nothing about now.
    if (permit.era !== this.#era) return;
    if (permit.isProbe) this.#probed(permit, shown);
    else if (health === 'success') this.#answered(permit);
    else if (health !== 'none' && health !== 'foreign') this.#failed(permit, shown);
  }

  /** Opens it for a reason that its own calls need not show; the next call is a probe. */
  trip(): void {
    this.#open();
    this.#probedAtMs = Number.NEGATIVE_INFINITY;
  }

  #open(): void {
    this.#tried = new Set([...this.#counted.failures.keys(), ...this.#silence.accounts]);
    this.#turn(this.#options.clock.now());
  }

  #turn(openedAtMs: number | null): void {
    this.#openedAtMs = openedAtMs;
    this.#era += 1;
    this.#probedAtMs = this.#options.clock.now();
    this.#counted = noCalls(this.#options.clock);
    this.#silence = noLosses();
    this.#options.onChange(this.isOpen);
  }

  #probed(permit: Permit, { health, cause }: Shown): void {
    if (health === 'success') {
      this.#turn(null);
      this.#answered(permit);
    }
    // A probe without a verdict costs no pause, or refused tokens could use up every probe.
    else if (health === 'none') this.#probedAtMs = Number.NEGATIVE_INFINITY;
    else this.#cause = cause;
  }

  #answered({ atMs }: Permit): void {
    this.#cause = null;
    this.#current().successes += 1;
    this.#answeredAtMs = Math.max(this.#answeredAtMs, atMs);
    if (this.#silence.accounts.size > 0) this.#silence = noLosses();
  }

  /** Anybody can be many strangers, so their failures count only where no connection was made. */
  #failed(permit: Permit, { health, account, cause }: Shown): void {
    const counted = this.#current();
    if (health === 'unreachable') counted.unreachable += 1;
    else if (account === null) return;
    else if (health === 'lost' && this.#options.policy.losses === 'silence') {
      this.#lost(permit, account);
    } else {
      const { failures } = counted;
      const before = failures.get(account) ?? 0;
      if (before > 0 || failures.size < MAX_ACCOUNTS) failures.set(account, before + 1);
    }
    this.#cause = cause;
    if (this.#isFailing() || this.#isSilent()) this.#open();
  }

  #lost({ atMs }: Permit, account: string): void {
    // A call from before the last answer says nothing of the time since, however late it ends.
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

  /** The calls of one window are forgotten together. */
  #current(): Counted {
    const { clock } = this.#options;
    if (clock.now() - this.#counted.sinceMs >= WINDOW_MS) this.#counted = noCalls(clock);
    return this.#counted;
  }

  #isFailing(): boolean {
    const { successes, unreachable, failures } = this.#counted;
    const byAccount = [...failures.values()];
    const failed = byAccount.reduce((sum, each) => sum + each, 0);
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
  /** The failures by account. */
  readonly failures: Map<string, number>;
}

function noCalls(clock: Clock): Counted {
  return { sinceMs: clock.now(), successes: 0, unreachable: 0, failures: new Map() };
}

/** The losses since the last answer: of which accounts, and when the first and the last of them ended. */
function noLosses() {
  return { accounts: new Set<string>(), sinceMs: 0, lastMs: 0 };
}
