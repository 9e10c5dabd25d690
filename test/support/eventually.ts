import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';

const POLL_MS = 10;
/** Long enough for a busy machine, but shorter than a test's own limit, which would not name the condition. */
export const WITHIN_MS = 120_000;
/** The limit of the check after the watched process has ended, which may hang. */
const LAST_CHECK_MS = 5_000;
const MAX_TEXT_LENGTH = 300;
const SHOWN = { depth: 4, maxArrayLength: 20, maxStringLength: 1_000 };

export interface Waiting<T> {
  readonly withinMs?: number;
  /** By default any value but false is accepted. */
  readonly until?: (value: T) => boolean;
  /**
   * Returns how the process, socket, stream or signal on which the condition depends has ended; null, undefined or false
   * before its end. Afterwards the condition is checked once more, without waiting.
   */
  readonly ended?: () => unknown;
}

/**
 * Waits for a condition. After the limit it throws the last failure, and adds the source text of the check, its last value
 * and its last error.
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
      // A check that never settles fails here, and not by the whole test's limit.
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

/** The result of the task; rejects if that takes too long. */
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

/** The same failure with notes in its message, because test reports show more of an assertion than its message. */
function withNotes(failure: unknown, notes: readonly string[]): Error {
  const error = failure instanceof Error ? failure : new Error(String(failure));
  // Defined as a property, because an abort's message is only a getter.
  const value = [error.message, ...notes].join('\n');
  return Object.defineProperty(error, 'message', { value, configurable: true, writable: true });
}
