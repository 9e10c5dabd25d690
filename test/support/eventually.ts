import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 10;
/** Long, since a busy machine is slow, and less than a test may take, which would not name what it waited for. */
export const WITHIN_MS = 50_000;
const MAX_TEXT_LENGTH = 300;

/**
 * Waits for a condition, never for a time. After that long it throws the last failure, or that the check has not
 * settled, and names the check by its own text.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { withinMs = WITHIN_MS }: { withinMs?: number } = {},
): Promise<T> {
  const beganAtMs = performance.now();
  const unsettled = new Error('The check has not settled');
  for (let tries = 1; ; tries += 1) {
    try {
      // A check that waits for what never comes fails as well, rather than the whole test at its own limit.
      const value = await within(withinMs, check, () => unsettled);
      if (value !== false) return value;
      throw new Error('The condition does not hold');
    } catch (error) {
      const waitedMs = performance.now() - beganAtMs;
      if (waitedMs >= withinMs || error === unsettled)
        throw withWait(error, check, waitedMs, tries);
      await delay(POLL_MS);
    }
  }
}

/** What the task resolves with, or a failure where that takes too long. */
export async function within<T>(
  ms: number,
  task: () => T | Promise<T>,
  late: () => Error,
): Promise<T> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(late()), ms);
  try {
    return await Promise.race([task(), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

/** The same failure, since test reports show more of an assertion than its message. */
function withWait(failure: unknown, check: () => unknown, waitedMs: number, tries: number): Error {
  const error = failure instanceof Error ? failure : new Error(String(failure));
  const text = String(check).replace(/\s+/g, ' ').slice(0, MAX_TEXT_LENGTH);
  error.message += `\nin ${(waitedMs / 1_000).toFixed(1)} s and ${tries} tries of: ${text}`;
  return error;
}
