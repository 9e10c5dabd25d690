import type { Clock } from '../../../lib/clock.ts';
import type { Account } from './circuit-breaker.ts';

// Losses of three accounts, none of which has most of them, are hardly one account's own fault, as for a breaker.
const MIN_ACCOUNTS = 3;
const MAX_ACCOUNTS = 64;

export type Silence = ReturnType<typeof createSilence>;

/**
 * Tells that a backend answers nothing: of the calls since its last answer none had one, and they are many, of several accounts.
 * A breaker measures a share of ten seconds, and would let orders go out for seconds into an outage.
 */
export function createSilence(clock: Clock, minimumCalls: number) {
  const byAccount = new Map<string, number>();
  let calls = 0;
  let sinceMs: number | null = null;
  let lostAtMs = Number.NEGATIVE_INFINITY;
  return {
    /** When it was first known to be silent; null while it is not. */
    get sinceMs(): number | null {
      return sinceMs;
    },
    /** Whether it was silent when it was last called, some milliseconds ago at most. */
    lasted(ms: number): boolean {
      return sinceMs !== null && clock.now() - lostAtMs < ms;
    },
    lost({ key, isProved }: Account): void {
      lostAtMs = clock.now();
      if (sinceMs !== null) return;
      // Anybody can claim to be many accounts without being proved to have one.
      const name = isProved ? key : '';
      const before = byAccount.get(name);
      if (before === undefined && byAccount.size === MAX_ACCOUNTS) return;
      byAccount.set(name, (before ?? 0) + 1);
      calls += 1;
      if (calls < minimumCalls || byAccount.size < MIN_ACCOUNTS) return;
      if (Math.max(...byAccount.values()) <= calls / 2) sinceMs = lostAtMs;
    },
    answered(): void {
      // Clearing an empty map would allocate a new table with each answer.
      if (calls > 0) byAccount.clear();
      calls = 0;
      sinceMs = null;
    },
  };
}
