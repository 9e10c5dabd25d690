import type { Clock } from '../../../lib/clock.ts';
import type { Account } from './circuit-breaker.ts';

interface SilenceOptions {
  /** Fewer losses than this are too few. */
  readonly minimumCalls: number;
  /** Between the first of the losses and the one that shows the silence. */
  readonly minimumMs: number;
}

// Losses of three accounts, with nobody answered in between, are hardly their own fault.
const MIN_ACCOUNTS = 3;
const MAX_ACCOUNTS = 64;

export type Silence = ReturnType<typeof createSilence>;

/**
 * Tells that a backend answers nothing: several accounts have lost calls, and nobody was answered since the first of these.
 * A breaker measures a share of ten seconds, and would let orders go out for seconds into an outage.
 */
export function createSilence(clock: Clock, { minimumCalls, minimumMs }: SilenceOptions) {
  const accounts = new Set<string>();
  let calls = 0;
  let sinceMs: number | null = null;
  let firstLostAtMs = 0;
  let lostAtMs = Number.NEGATIVE_INFINITY;
  return {
    /** When it was first known to be silent; null while it is not. */
    get sinceMs(): number | null {
      return sinceMs;
    },
    /** Those that have lost calls since the last answer. */
    get accounts(): ReadonlySet<string> {
      return accounts;
    },
    /** Whether it was silent when it was last called, some milliseconds ago at most. */
    lasted(ms: number): boolean {
      return sinceMs !== null && clock.now() - lostAtMs < ms;
    },
    lost({ key, isProved }: Account): void {
      lostAtMs = clock.now();
      if (calls === 0) firstLostAtMs = lostAtMs;
      calls += 1;
      // Anybody can claim to be many accounts without being proved to have one.
      if (accounts.size < MAX_ACCOUNTS) accounts.add(isProved ? key : '');
      if (sinceMs !== null || calls < minimumCalls || accounts.size < MIN_ACCOUNTS) return;
      if (lostAtMs - firstLostAtMs >= minimumMs) sinceMs = lostAtMs;
    },
    answered(): void {
      // Clearing an empty set would allocate a new table with each answer.
      if (calls > 0) accounts.clear();
      calls = 0;
      sinceMs = null;
    },
  };
}
