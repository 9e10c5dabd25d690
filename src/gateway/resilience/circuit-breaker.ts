import type { Clock } from '../../../lib/clock.ts';
import { createRollingWindow } from '../../../lib/rolling-window.ts';

/** The health that one call shows to a breaker; `none` where it shows nothing. */
export type CountedHealth = 'success' | 'failure' | 'none';

/** The account, or the network, that a call came from. */
export interface Account {
  readonly key: string;
  /** Otherwise the key is that of a network: anybody can claim to be many accounts. */
  readonly isProved: boolean;
}

export interface CircuitBreakerOptions extends FailureShareOptions {
  readonly clock: Clock;
  readonly onChange: (state: 'closed' | 'open') => void;
  /** Between the starts of two probes, from the second one on; left out it is that of the first. */
  readonly pauseMs?: () => number;
  /** Whether a caller that is named and whose calls have failed leaves the next probe to others, should others ask. */
  readonly leavesProbes?: boolean;
}

interface Trip {
  /** The callers that have failed already. */
  readonly tried?: ReadonlySet<string>;
  /** Whether the next call is a probe. */
  readonly isProbeDue?: boolean;
}

/** The right to make one call; it is settled with the call's verdict. */
export interface Permit {
  readonly isProbe: boolean;
  /** Closed and open periods are numbered, so that a late answer does not count in a later one. */
  readonly era: number;
}

export const WINDOW_MS = 10_000;
/** Between two probes, from the start of each. */
export const PAUSE_MS = 5_000;
const MAX_TRIED = 10_000;
/** For so long a probe that is due waits for a caller that has not failed. */
const LEFT_MS = 3_000;

export type CircuitBreaker = ReturnType<typeof createCircuitBreaker>;

/** Holds calls back from a backend that fails, but for one at times to see whether it recovers. It sets no timers. */
export function createCircuitBreaker(options: CircuitBreakerOptions) {
  const { clock, onChange, pauseMs = () => PAUSE_MS, leavesProbes = false } = options;
  const share = measureFailures(options);
  let era = 0;
  let isOpen = false;
  /** When the last probe began, or when it opened. */
  let probedAtMs = 0;
  let hasProbed = false;
  /** The callers that have failed, or tried, since shortly before it opened. */
  let tried = new Set<string>();

  function turn(toOpen: boolean): void {
    isOpen = toOpen;
    era += 1;
    probedAtMs = clock.now();
    hasProbed = false;
    tried = share.failing;
    share.forget();
    onChange(isOpen ? 'open' : 'closed');
  }

  function probed(verdict: CountedHealth): void {
    if (verdict === 'success') {
      turn(false);
      share.succeeded();
    }
    // A probe without a verdict costs no pause, or refused tokens could use up every probe.
    else if (verdict === 'none') probedAtMs = Number.NEGATIVE_INFINITY;
  }

  return {
    get isOpen(): boolean {
      return isOpen;
    },
    /**
     * Returns null while the breaker is open. Every permit is settled in the end. A caller who is named here is let through
     * once all the same, unless its own calls have failed or probes are left to others.
     */
    admit(caller?: Account): Permit | null {
      if (!isOpen) return { isProbe: false, era };
      const nowMs = clock.now();
      const isUntried = caller !== undefined && !tried.has(caller.key);
      if (!leavesProbes && isUntried && tried.size < MAX_TRIED) tried.add(caller.key);
      else {
        const dueAtMs = probedAtMs + (hasProbed ? pauseMs() : PAUSE_MS);
        if (nowMs < dueAtMs + (leavesProbes && !isUntried ? LEFT_MS : 0)) return null;
        // The pause counts from the probe's start, whether or not it ends: one that hangs must not delay the next.
        probedAtMs = nowMs;
        hasProbed = true;
        if (leavesProbes && caller !== undefined) {
          // Nobody else was there: the next turn is anybody's but this one's.
          if (!isUntried) tried.clear();
          tried.add(caller.key);
        }
      }
      return { isProbe: true, era };
    },
    /** A failure counts against the account. */
    settle(permit: Permit, verdict: CountedHealth, account: Account): void {
      // The call was sent before the breaker opened or closed, so its answer says nothing about now.
      if (permit.era !== era) return;
      if (permit.isProbe) probed(verdict);
      else if (verdict === 'success') share.succeeded();
      else if (verdict === 'failure') {
        share.failed(account);
        if (share.isTooHigh) turn(true);
      }
    },
    /** Opens it for a reason that its own calls need not show. */
    trip({ tried: failing, isProbeDue = false }: Trip = {}): void {
      if (isOpen) return;
      turn(true);
      for (const key of failing ?? []) tried.add(key);
      if (isProbeDue) probedAtMs = Number.NEGATIVE_INFINITY;
    },
  };
}

interface FailureShareOptions {
  readonly clock: Clock;
  /** Fewer calls than this are too small a sample. */
  readonly minimumCalls: number;
  /** Whether proved accounts have called the same backend within the window. */
  readonly hasProvedCalls: () => boolean;
  /** Whether it is too high only where nobody succeeds: anybody can call, and make calls fail that harm no other. */
  readonly isAnybodys?: boolean;
  /** Whether one account's failures are enough, as of connections: no caller can make one fail. */
  readonly isOfConnections?: boolean;
}

type Failures = ReturnType<typeof noFailures>;

const SLICES = 10;
const FAILURE_THRESHOLD = 0.5;
// Two accounts that fail in the same ten seconds, each for a reason of its own, are no rarity among
// thousands; a third, with none of them having more than half of the failures, is hardly coincidence.
// With more than three a small installation's breaker could never open.
const MINIMUM_ACCOUNTS = 3;
// Enough to see that the failures are not one account's; a flood of logins must not fill the memory.
const ACCOUNTS_PER_SLICE = 64;

/** Measures the share of the latest calls that failed, and how far the failures spread over accounts. */
function measureFailures(options: FailureShareOptions) {
  const { clock, minimumCalls, hasProvedCalls, isAnybodys = false, isOfConnections } = options;
  const begin = () =>
    createRollingWindow({ clock, spanMs: WINDOW_MS, slices: SLICES, create: noCalls });
  let window = begin();
  return {
    succeeded(): void {
      window.current().successes += 1;
    },
    failed({ key, isProved }: Account): void {
      const slice = window.current();
      const failures = isProved ? slice.proved : slice.others;
      failures.count += 1;
      const before = failures.byAccount.get(key);
      if (before !== undefined || failures.byAccount.size < ACCOUNTS_PER_SLICE) {
        failures.byAccount.set(key, (before ?? 0) + 1);
      }
    },
    forget(): void {
      window = begin();
    },
    get failing(): Set<string> {
      const failures = window.slices().flatMap(({ proved, others }) => [proved, others]);
      return new Set(addUp(failures).byAccount.keys());
    },
    get isTooHigh(): boolean {
      const slices = window.slices();
      const proved = addUp(slices.map((slice) => slice.proved));
      const everybodyElse = addUp(slices.map((slice) => slice.others));
      const isBounded = hasProvedCalls() && !isOfConnections;
      const others = isBounded ? asOneAccount(everybodyElse, proved.count) : everybodyElse;
      const failures = proved.count + others.count;
      const calls = slices.reduce((sum, { successes }) => sum + successes, failures);
      if (calls < minimumCalls || failures < calls * FAILURE_THRESHOLD) return false;
      if (isAnybodys && calls > failures) return false;
      if (isOfConnections) return true;
      const ofEach = [...proved.byAccount.values(), ...others.byAccount.values()];
      return ofEach.length >= MINIMUM_ACCOUNTS && Math.max(...ofEach) <= failures / 2;
    },
  };
}

function noCalls() {
  return { successes: 0, proved: noFailures(), others: noFailures() };
}

function noFailures() {
  return { count: 0, byAccount: new Map<string, number>() };
}

function addUp(all: readonly Failures[]): Failures {
  const total = noFailures();
  for (const { count, byAccount } of all) {
    total.count += count;
    for (const [account, failures] of byAccount) {
      total.byAccount.set(account, (total.byAccount.get(account) ?? 0) + failures);
    }
  }
  return total;
}

/** However many they are, they neither open a breaker by themselves nor, as the one with most failures, keep it closed. */
function asOneAccount({ count }: Failures, most: number): Failures {
  const counted = Math.min(count, most);
  return { count: counted, byAccount: new Map(counted > 0 ? [['', counted]] : []) };
}
