import type { Clock } from '../../lib/clock.ts';
import type { Health } from '../classify.ts';
import type { CallAccount } from './account-of.ts';
import { createRollingWindow } from './rolling-window.ts';

/** When a breaker opens beside failures to connect, and how it is probed. */
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
  /** Whether proved accounts have called lately: then all other callers count as one account. */
  readonly hasProvedCalls: () => boolean;
  readonly onChange: (isOpen: boolean) => void;
}

/** The right to make one call; it is settled with what the call has shown. */
interface Permit {
  readonly isProbe: boolean;
  /** Closed and open periods are numbered, so that a late answer does not count in a later one. */
  readonly era: number;
  readonly atMs: number;
}

export const WINDOW_MS = 10_000;
const SLICES = 10;
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
  #window: ReturnType<typeof createWindow>;
  #silence = noLosses();
  #era = 0;
  #openedAtMs: number | null = null;
  #probedAtMs = 0;
  #answeredAtMs = Number.NEGATIVE_INFINITY;
  /** The accounts that have failed, or probed, since shortly before it opened. */
  #tried = new Set<string>();

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
    this.#window = createWindow(options.clock);
  }

  get isOpen(): boolean {
    return this.#openedAtMs !== null;
  }

  /** When it opened; null while it is closed. */
  get openedAtMs(): number | null {
    return this.#openedAtMs;
  }

  /** When the call was made that was answered last. */
  get answeredAtMs(): number {
    return this.#answeredAtMs;
  }

  /** Returns null while the call is to be held back. Every permit is settled in the end. */
  admit({ key }: CallAccount): Permit | null {
    const atMs = this.#options.clock.now();
    if (!this.isOpen) return { isProbe: false, era: this.#era, atMs };
    const { pauseMs, losses } = this.#options.policy;
    const isLeft = losses === 'silence' && this.#tried.has(key);
    if (atMs < this.#probedAtMs + pauseMs + (isLeft ? LEFT_MS : 0)) return null;
    // No other account has called, so this one probes, and the next probe is left to the others.
    if (isLeft) this.#tried.clear();
    if (this.#tried.size < MAX_ACCOUNTS) this.#tried.add(key);
    // The pause counts from the probe's start: one that hangs must not delay the next.
    this.#probedAtMs = atMs;
    return { isProbe: true, era: this.#era, atMs };
  }

  settle(permit: Permit, health: Health, account: CallAccount): void {
    // The call was sent before the breaker opened or closed, so that its answer says nothing about now.
    if (permit.era !== this.#era) return;
    if (permit.isProbe) this.#probed(permit, health);
    else if (health === 'success') this.#answered(permit);
    else if (health !== 'none' && health !== 'foreign') this.#failed(permit, health, account);
  }

  /** Opens it for a reason that its own calls need not show; the next call is a probe. */
  trip(): void {
    this.#open();
    this.#probedAtMs = Number.NEGATIVE_INFINITY;
  }

  #open(): void {
    this.#tried = new Set([...this.#failingAccounts(), ...this.#silence.accounts]);
    this.#turn(this.#options.clock.now());
  }

  #turn(openedAtMs: number | null): void {
    this.#openedAtMs = openedAtMs;
    this.#era += 1;
    this.#probedAtMs = this.#options.clock.now();
    this.#window = createWindow(this.#options.clock);
    this.#silence = noLosses();
    this.#options.onChange(this.isOpen);
  }

  #probed(permit: Permit, health: Health): void {
    if (health === 'success') {
      this.#turn(null);
      this.#answered(permit);
    }
    // A probe without a verdict costs no pause, or refused tokens could use up every probe.
    else if (health === 'none') this.#probedAtMs = Number.NEGATIVE_INFINITY;
  }

  #answered({ atMs }: Permit): void {
    this.#window.current().successes += 1;
    this.#answeredAtMs = Math.max(this.#answeredAtMs, atMs);
    if (this.#silence.accounts.size > 0) this.#silence = noLosses();
  }

  #failed(permit: Permit, health: Health, account: CallAccount): void {
    const isSilence = this.#options.policy.losses === 'silence';
    if (health === 'unreachable') this.#window.current().unreachable += 1;
    else if (health === 'lost' && isSilence) this.#lost(permit, account);
    else {
      const { proved, others } = this.#window.current();
      const failures = account.isProved ? proved : others;
      const before = failures.get(account.key);
      if (before !== undefined || failures.size < MAX_ACCOUNTS)
        failures.set(account.key, (before ?? 0) + 1);
    }
    if (this.#isFailing() || this.#isSilent()) this.#open();
  }

  #lost({ atMs }: Permit, { key }: CallAccount): void {
    // A call from before the last answer says nothing of the time since, however late it ends.
    if (atMs < this.#answeredAtMs) return;
    const { accounts } = this.#silence;
    this.#silence.lastMs = this.#options.clock.now();
    if (accounts.size === 0) this.#silence.sinceMs = this.#silence.lastMs;
    if (accounts.size < MAX_ACCOUNTS) accounts.add(key);
  }

  #isSilent(): boolean {
    const { accounts, sinceMs, lastMs } = this.#silence;
    return accounts.size >= MIN_ACCOUNTS && lastMs - sinceMs >= MIN_SILENCE_MS;
  }

  #isFailing(): boolean {
    const slices = this.#window.slices();
    const successes = sum(slices.map((slice) => slice.successes));
    const unreachable = sum(slices.map((slice) => slice.unreachable));
    const byAccount = this.#failuresByAccount(slices);
    const failures = sum(byAccount);
    const isHalf = (failed: number) => failed >= (successes + unreachable + failures) / 2;
    if (unreachable >= MIN_UNREACHABLE && isHalf(unreachable)) return true;
    if (successes + failures < this.#options.policy.minCalls || !isHalf(failures)) return false;
    return byAccount.length >= MIN_ACCOUNTS && Math.max(...byAccount) <= failures / 2;
  }

  /** While proved accounts call, all other callers neither open a breaker by themselves nor keep it closed. */
  #failuresByAccount(slices: readonly Slice[]): readonly number[] {
    const proved = countsOf(slices.map((slice) => slice.proved));
    const others = countsOf(slices.map((slice) => slice.others));
    if (!this.#options.hasProvedCalls()) return [...proved, ...others];
    const asOne = Math.min(sum(others), sum(proved));
    return asOne > 0 ? [...proved, asOne] : proved;
  }

  #failingAccounts(): readonly string[] {
    const slices = this.#window.slices();
    return slices.flatMap(({ proved, others }) => [...proved.keys(), ...others.keys()]);
  }
}

type Slice = ReturnType<typeof noCalls>;

function createWindow(clock: Clock) {
  return createRollingWindow({ clock, spanMs: WINDOW_MS, slices: SLICES, create: noCalls });
}

/** The failures are counted by account. */
function noCalls() {
  return {
    successes: 0,
    unreachable: 0,
    proved: new Map<string, number>(),
    others: new Map<string, number>(),
  };
}

/** The losses since the last answer: of which accounts, and when the first and the last of them ended. */
function noLosses() {
  return { accounts: new Set<string>(), sinceMs: 0, lastMs: 0 };
}

function countsOf(all: readonly ReadonlyMap<string, number>[]): readonly number[] {
  const total = new Map<string, number>();
  for (const [account, count] of all.flatMap((each) => [...each]))
    total.set(account, (total.get(account) ?? 0) + count);
  return [...total.values()];
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, each) => total + each, 0);
}
