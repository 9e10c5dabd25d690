import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';

const POLL_MS = 10;
/** Long, since a busy machine is slow, and less than a test may take, which would not name what it waited for. */
export const WITHIN_MS = 50_000;
/** For the check that follows the end of what is watched, which may have hung up on it. */
const LAST_CHECK_MS = 5_000;
const MAX_TEXT_LENGTH = 300;
const SHOWN = { depth: 4, maxArrayLength: 20, maxStringLength: 1_000 };

export interface Waiting<T> {
  readonly withinMs?: number;
  /** Left out: any value but false will do. */
  readonly until?: (value: T) => boolean;
  /**
   * How the process, socket, stream or signal has ended that the condition depends on; null, undefined or false as
   * long as it has not. After it the condition is checked once more, and not waited for.
   */
  readonly ended?: () => unknown;
}

/**
 * Waits for a condition, never for a time. After that long it throws the last failure, or that the check has not
 * settled, and names the check by its own text, with the last value and the last error that it had.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { withinMs = WITHIN_MS, until = (value) => value !== false, ended = () => null }: Waiting<T> = {},
): Promise<T> {
  const beganAtMs = performance.now();
  const unsettled = new Error('The check has not settled');
  const seen: { value?: T; error?: unknown } = {};
  for (let tries = 1; ; tries += 1) {
    const end = ended() ?? false;
    let failure: unknown;
    try {
      // A check that waits for what never comes fails as well, rather than the whole test at its own limit.
      const checkMs = end === false ? withinMs : Math.min(withinMs, LAST_CHECK_MS);
      const value = await within(checkMs, check, () => unsettled);
      if (until(value)) return value;
      seen.value = value;
      failure = new Error('The condition does not hold', { cause: seen.error });
    } catch (error) {
      failure = error;
      if (error !== unsettled) seen.error = error;
    }
    const waitedMs = performance.now() - beganAtMs;
    if (end !== false || waitedMs >= withinMs || failure === unsettled) {
      const text = String(check).replace(/\s+/g, ' ').slice(0, MAX_TEXT_LENGTH);
      throw withNotes(failure, [
        `in ${(waitedMs / 1_000).toFixed(1)} s and ${tries} tries of: ${text}`,
        ...('value' in seen ? [`last value: ${inspect(seen.value, SHOWN)}`] : []),
        ...('error' in seen && seen.error !== failure ? [`last error: ${seen.error}`] : []),
        ...(end === false ? [] : [`what it depends on has ended: ${inspect(end, SHOWN)}`]),
      ]);
    }
    await delay(POLL_MS);
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
function withNotes(failure: unknown, notes: readonly string[]): Error {
  const error = failure instanceof Error ? failure : new Error(String(failure));
  // Defined anew, since an abort's message is read by a getter alone.
  const value = [error.message, ...notes].join('\n');
  return Object.defineProperty(error, 'message', { value, configurable: true, writable: true });
}
