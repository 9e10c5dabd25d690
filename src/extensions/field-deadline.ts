import { asGuest } from '../../lib/guest-code.ts';
import { DeadlineError, GatewayError } from '../gateway/errors.ts';

export interface FieldDeadline {
  /** The name of the extension. */
  readonly guest: string;
  /** Names the field in errors: `alerts.priceAlerts`. */
  readonly operation: string;
  readonly ms: number;
  /** Past the deadline nobody knows what became of a write. */
  readonly isWrite: boolean;
}

// An endless list must end before the deadline does.
const MAX_ITEMS = 100_000;

/**
 * Runs code of an extension for one field, and waits for what it returns as long as the deadline allows; what settles later
 * is dropped. `abort` is called where the deadline has passed, so that the code may stop.
 */
export function withinDeadline(
  deadline: FieldDeadline,
  abort: (reason: Error) => void,
  run: () => unknown,
): unknown {
  const { guest, ms } = deadline;
  const made = asGuest(guest, run);
  if (!isPending(made)) return made;
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const error = lateError(deadline);
    reject(error);
    abort(error);
  }, ms);
  // Nobody waits for it any more where the field was in time.
  late.catch(() => {});
  const settled = asGuest(guest, () => settledValue(made));
  return Promise.race([settled, late]).finally(() => clearTimeout(timer));
}

function lateError({ operation, ms, isWrite }: FieldDeadline): GatewayError {
  const cause = new DeadlineError(ms);
  return new GatewayError(isWrite ? 'unknown' : 'timeout', operation, cause.message, { cause });
}

/** Whether a value, or an item of a list, has still to settle: GraphQL would wait for each. */
function isPending(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(isPending);
  return 'then' in value || Symbol.asyncIterator in value;
}

/** A list whose items fail one by one has their errors as items, which GraphQL reports as theirs. */
async function settledValue(pending: unknown): Promise<unknown> {
  const value = await pending;
  if (!isPending(value)) return value;
  const items = Array.isArray(value) ? value : await itemsOf(value as AsyncIterable<unknown>);
  return Promise.all(items.map((item) => settledValue(item).catch(asError)));
}

async function itemsOf(source: AsyncIterable<unknown>): Promise<readonly unknown[]> {
  const items: unknown[] = [];
  for await (const item of source) {
    items.push(item);
    if (items.length > MAX_ITEMS) throw new RangeError(`a list of more than ${MAX_ITEMS} items`);
  }
  return items;
}

function asError(reason: unknown): Error {
  return reason instanceof Error
    ? reason
    : new Error('an item of a list rejected', { cause: reason });
}
