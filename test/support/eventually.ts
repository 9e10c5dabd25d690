import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 10;

/** Waits for a condition, never for a time; on time-out it throws the last failure. */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { withinMs = 30_000 }: { withinMs?: number } = {},
): Promise<T> {
  const giveUpAtMs = Date.now() + withinMs;
  for (;;) {
    try {
      const value = await check();
      if (value !== false) return value;
      throw new Error(`the condition does not hold: ${check}`);
    } catch (error) {
      if (Date.now() >= giveUpAtMs) throw error;
      await delay(POLL_MS);
    }
  }
}
