import type { Clock } from '../../lib/clock.ts';
import type { Health } from '../judge.ts';
import type { Area } from '../operation-traits.ts';

/** How a breaker counts calls that were sent, and how it probes. */
export interface BreakerPolicy {
  /** Fewer calls than this are too few to judge the backend by. */
  readonly minCalls: number;
  /** The time between the starts of two probes. The first pause begins when the breaker opens. */
  readonly pauseMs: number;
  /**
   * How calls without an answer count. `failures`: like a 5xx. `silence`: they open the breaker once three accounts have
   * lost calls over at least two seconds, and no call was answered since the first loss. While it is open, accounts that
   * have not failed probe first.
   */
  readonly losses: 'failures' | 'silence';
}

export const READS_AND_WRITES: BreakerPolicy = { minCalls: 10, pauseMs: 2_000, losses: 'failures' };
/**
 * An order that is sent into an outage ends unknown, so lost orders open the breaker. Some orders are also lost for reasons
 * of their accounts, so the breaker opens only if no order is answered.
 */
export const ORDERS: BreakerPolicy = { minCalls: 5, pauseMs: 5_000, losses: 'silence' };

interface CircuitBreakerOptions {
  /** The name of the operation; `orders` for both kinds of orders. */
  readonly name: string;
  readonly area: Area;
  readonly clock: Clock;
  readonly policy: BreakerPolicy;
  readonly onChange: (breaker: CircuitBreaker) => void;
}

/** The right to make one call. After the call, the breaker gets it back with the health that the call has shown. */
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
const MIN_LIMITED_ANSWERS = 10;
/** A quota by the minute lets some calls pass as each minute begins: an operation counts as limited for this long. */
const LIMITED_MS = 60_000;
/** How long a due probe is left to the accounts that have not failed. */
const OTHERS_FIRST_MS = 3_000;

/** Holds calls back from a failing backend. Now and then it admits one, to see whether the backend has recovered. */
export class CircuitBreaker {
  readonly name: string;
  readonly area: Area;
  readonly #options: CircuitBreakerOptions;
  #window: CallCounts;
  #silence = noLosses();
  #era = 0;
  /** When the breaker opened; null while it is closed. Only this class changes this property and the next two. */
  openedAtMs: number | null = null;
  /** When the latest answered call was made. */
  answeredAtMs = Number.NEGATIVE_INFINITY;
  /** Why the last call failed; null after a success. */
  cause: string | null = null;
  #probedAtMs = 0;
  #limitedUntilMs = Number.NEGATIVE_INFINITY;
  /** The accounts that have failed or probed since shortly before the breaker opened. */
  #tried = new Set<string>();

  constructor(options: CircuitBreakerOptions) {
    this.name = options.name;
    this.area = options.area;
    this.#options = options;
    this.#window = noCalls(options.clock);
  }

  get isOpen(): boolean {
    return this.openedAtMs !== null;
  }

  /** Whether most calls were answered by 429 a moment ago. The breaker does not open for them. */
  get isLimited(): boolean {
    return this.#options.clock.now() < this.#limitedUntilMs;
  }

  /** Returns null if the call must be held back. */
  admit(account: string | null): Permit | null {
    const atMs = this.#options.clock.now();
    if (!this.isOpen) return this.#newPermit(account, atMs, false);
    const { pauseMs, losses } = this.#options.policy;
    const name = account ?? '';
    const mustWait = losses === 'silence' && this.#tried.has(name);
    const extraMs = mustWait ? OTHERS_FIRST_MS : 0;
    if (atMs < this.#probedAtMs + pauseMs + extraMs) return null;
    // No other account has called, so this one probes. The next probe is left to the others.
    if (mustWait) this.#tried.clear();
    if (this.#tried.size < MAX_ACCOUNTS) this.#tried.add(name);
    // The pause counts from the probe's start: a probe that hangs must not delay the next.
    this.#probedAtMs = atMs;
    return this.#newPermit(account, atMs, true);
  }

  settle(permit: Permit, health: Health, cause: string | null): void {
    // The call was sent before the breaker last opened or closed, so its answer says nothing about now.
    if (permit.era !== this.#era) return;
    const isFailure = health === 'failure' || health === 'lost' || health === 'unreachable';
    const isAnswer = health === 'success' || health === 'limited';
    if (permit.isProbe) this.#endProbe(permit, isAnswer ? 'success' : health, cause);
    else if (isAnswer) this.#countSuccess(permit);
    else if (isFailure) this.#countFailure(permit, health, cause);
    if (health === 'limited' && permit.account !== null) this.#countLimited(permit.account);
  }

  /** Opens the breaker for a reason outside its own calls. The next call is a probe. */
  trip(): void {
    this.#open();
    this.#probedAtMs = Number.NEGATIVE_INFINITY;
  }

  #newPermit(account: string | null, atMs: number, isProbe: boolean): Permit {
    return { breaker: this, account, isProbe, era: this.#era, atMs };
  }

  #open(): void {
    this.#tried = new Set([...this.#window.failed.accounts, ...this.#silence.accounts]);
    this.#beginEra(this.#options.clock.now());
  }

  #beginEra(openedAtMs: number | null): void {
    this.openedAtMs = openedAtMs;
    this.#era += 1;
    this.#probedAtMs = this.#options.clock.now();
    this.#window = noCalls(this.#options.clock);
    this.#silence = noLosses();
    this.#options.onChange(this);
  }

  #endProbe(permit: Permit, health: Health, cause: string | null): void {
    if (health === 'success') {
      this.#beginEra(null);
      this.#countSuccess(permit);
    } else if (health === 'none') {
      // A probe that shows nothing is repeated without a pause, or refused tokens could use up every probe.
      this.#probedAtMs = Number.NEGATIVE_INFINITY;
    } else this.cause = cause;
  }

  #countSuccess({ atMs }: Permit): void {
    this.cause = null;
    this.#currentWindow().successes += 1;
    this.answeredAtMs = Math.max(this.answeredAtMs, atMs);
    if (this.#silence.accounts.size > 0) this.#silence = noLosses();
  }

  /** A client can appear as many unproved callers, so their failures count only if no connection was made. */
  #countFailure(permit: Permit, health: Health, cause: string | null): void {
    const { account } = permit;
    const window = this.#currentWindow();
    if (health === 'unreachable') window.unreachable += 1;
    else if (account === null) return;
    else if (health === 'lost' && this.#options.policy.losses === 'silence') {
      this.#countLoss(permit, account);
    } else window.failed.add(account);
    this.cause = cause;
    if (this.#isFailing() || this.#isSilent()) this.#open();
  }

  /** While clients back off, few answers are enough to go on. */
  #countLimited(account: string): void {
    const { successes, failed, limited } = this.#currentWindow();
    limited.add(account);
    const answers = successes + failed.count;
    if (limited.count < answers / 2) return;
    const isNew = answers >= MIN_LIMITED_ANSWERS && limited.isOfSeveral;
    if (this.isLimited || isNew) this.#limitedUntilMs = this.#options.clock.now() + LIMITED_MS;
  }

  #countLoss({ atMs }: Permit, account: string): void {
    // A call that was sent before the last answer shows nothing about the time since that answer.
    if (atMs < this.answeredAtMs) return;
    const { accounts } = this.#silence;
    this.#silence.lastMs = this.#options.clock.now();
    if (accounts.size === 0) this.#silence.sinceMs = this.#silence.lastMs;
    if (accounts.size < MAX_ACCOUNTS) accounts.add(account);
  }

  #isSilent(): boolean {
    const { accounts, sinceMs, lastMs } = this.#silence;
    return accounts.size >= MIN_ACCOUNTS && lastMs - sinceMs >= MIN_SILENCE_MS;
  }

  /** After WINDOW_MS all counts start again at 0. */
  #currentWindow(): CallCounts {
    const { clock } = this.#options;
    if (clock.now() - this.#window.sinceMs >= WINDOW_MS) this.#window = noCalls(clock);
    return this.#window;
  }

  /** Whether half of the calls got no connection, or half failed, for several accounts. */
  #isFailing(): boolean {
    const { successes, unreachable, failed } = this.#window;
    const isHalf = (count: number) => count >= (successes + unreachable + failed.count) / 2;
    if (unreachable >= MIN_UNREACHABLE && isHalf(unreachable)) return true;
    const isEnough = successes + failed.count >= this.#options.policy.minCalls;
    return isEnough && isHalf(failed.count) && failed.isOfSeveral;
  }
}

/** The calls of one window. Those of unproved callers count only as `successes` or `unreachable`. */
interface CallCounts {
  readonly sinceMs: number;
  successes: number;
  unreachable: number;
  readonly failed: CountByAccount;
  readonly limited: CountByAccount;
}

function noCalls(clock: Clock): CallCounts {
  const [failed, limited] = [new CountByAccount(), new CountByAccount()];
  return { sinceMs: clock.now(), successes: 0, unreachable: 0, failed, limited };
}

/** Counts calls, and those of each of the first MAX_ACCOUNTS accounts. */
class CountByAccount {
  readonly #byAccount = new Map<string, number>();
  count = 0;

  get accounts(): Iterable<string> {
    return this.#byAccount.keys();
  }

  /** Whether the calls are those of several accounts, since one may have a reason of its own. */
  get isOfSeveral(): boolean {
    const mostOfOne = Math.max(...this.#byAccount.values());
    return this.#byAccount.size >= MIN_ACCOUNTS && mostOfOne <= this.count / 2;
  }

  add(account: string): void {
    this.count += 1;
    const before = this.#byAccount.get(account) ?? 0;
    if (before > 0 || this.#byAccount.size < MAX_ACCOUNTS) {
      this.#byAccount.set(account, before + 1);
    }
  }
}

/** The losses since the last answer: their accounts, and when the first and the last loss ended. */
function noLosses() {
  return { accounts: new Set<string>(), sinceMs: 0, lastMs: 0 };
}
