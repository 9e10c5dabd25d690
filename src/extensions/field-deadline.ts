import { inspect } from 'node:util';
import { asGuest } from '../../lib/guest-code.ts';
import { DeadlineError, GatewayError } from '../gateway/errors.ts';

export interface FieldDeadline {
  /** The name of the extension. */
  readonly guest: string;
  /** Names the field in errors: `alerts.priceAlerts`. */
  readonly operation: string;
  readonly ms: number;
  /** The outcome of a write that misses the deadline is unknown. */
  readonly isWrite: boolean;
}

interface Wait {
  isOver: boolean;
}

// A list that never ends would fill the heap before the deadline.
const MAX_ITEMS = 100_000;

/**
 * Runs code of an extension for one field, and waits for what it returns as long as the deadline allows; what settles later
 * is dropped. `given.abort` is called where the deadline has passed, so that the code may stop.
 */
export function withinDeadline(
  deadline: FieldDeadline,
  given: Pick<AbortController, 'abort'> | null,
  run: () => unknown,
): unknown {
  const { guest, ms } = deadline;
  const wait: Wait = { isOver: false };
  let made: unknown;
  try {
    made = asGuest(guest, () => {
      const value = run();
      return isPending(value) ? settledValue(value, wait) : value;
    });
  } catch (error) {
    throw readableError(error);
  }
  if (!(made instanceof Promise)) return made;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      wait.isOver = true;
      const error = lateError(deadline);
      reject(error);
      given?.abort(error);
    }, ms);
    made
      .finally(() => clearTimeout(timer))
      .then(resolve, (error) => {
        reject(readableError(error));
      });
  });
}

function lateError({ operation, ms, isWrite }: FieldDeadline): GatewayError {
  const cause = new DeadlineError(ms);
  return new GatewayError(isWrite ? 'unknown' : 'timeout', operation, cause.message, { cause });
}

/** Whether a value, or an item of a list, has still to settle: GraphQL would wait for each. */
export function isPending(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(isPending);
  return typeof (value as { then?: unknown }).then === 'function' || Symbol.asyncIterator in value;
}

/** A list whose items fail one by one has their errors as items, which GraphQL reports as theirs. */
async function settledValue(pending: unknown, wait: Wait): Promise<unknown> {
  const value = await pending;
  if (!isPending(value)) return value;
  const items = Array.isArray(value) ? value : await itemsOf(value as AsyncIterable<unknown>, wait);
  return Promise.all(items.map((item) => settledValue(item, wait).catch(readableError)));
}

async function itemsOf(source: AsyncIterable<unknown>, wait: Wait): Promise<readonly unknown[]> {
  const items: unknown[] = [];
  for await (const item of source) {
    items.push(item);
    if (items.length > MAX_ITEMS) throw new RangeError(`a list of more than ${MAX_ITEMS} items`);
    if (wait.isOver) break;
  }
  return items;
}

/** Turns whatever code has thrown into an error whose texts can be read. */
function readableError(thrown: unknown): Error {
  try {
    if (thrown instanceof Error) {
      const { message, stack = '' } = thrown;
      if (typeof message === 'string' && typeof stack === 'string') return thrown;
    }
    return new Error(`no error was thrown, but ${inspect(thrown)}`);
  } catch {
    return new Error('what was thrown cannot be read');
  }
}
