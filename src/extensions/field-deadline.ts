import { inspect } from 'node:util';
import { GraphQLError } from 'graphql';
import { asGuest, attribute } from '../../lib/guest-code.ts';
import { isPlainJson, plainJson } from '../../lib/plain-json.ts';
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

/** How GraphQL reads what a field returns, which runs code of the extension as well: its iterator, its `toJSON`, its `valueOf`. */
export interface FieldShape {
  /** How many lists are nested in its type. */
  readonly lists: number;
  /** Returns a leaf as plain data; null where nothing of the extension runs when GraphQL reads one. */
  readonly leaf: ((value: unknown) => unknown) | null;
}

interface Wait {
  isOver: boolean;
}

// A list that never ends would fill the heap before the deadline.
const MAX_ITEMS = 100_000;
/** The most lists that may be nested in each other. */
const MAX_LEVELS = 10;
const ANY: FieldShape = { lists: 0, leaf: null };

/**
 * Runs code of an extension for one field, and waits for what it returns as long as the deadline allows; what settles later
 * is dropped. `given.abort` is called where the deadline has passed, so that the code may stop.
 */
export function withinDeadline(
  deadline: FieldDeadline,
  given: Pick<AbortController, 'abort'> | null,
  run: () => unknown,
  { lists, leaf }: FieldShape = ANY,
): unknown {
  const { guest, ms } = deadline;
  const wait: Wait = { isOver: false };
  const failed = (error: unknown) => asGuest(guest, () => attribute(readableError(error), guest));
  const read = (value: unknown) => (leaf ? leaves(value, lists, leaf) : value);
  let made: unknown;
  try {
    made = asGuest(guest, () => {
      const value = listed(run(), lists);
      return isPending(value) ? settledValue(value, wait, lists).then(read) : read(value);
    });
  } catch (error) {
    throw failed(error);
  }
  if (!(made instanceof Promise)) return made;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      wait.isOver = true;
      const error = lateError(deadline);
      reject(error);
      given?.abort(error);
    }, ms);
    made.finally(() => clearTimeout(timer)).then(resolve, (error) => reject(failed(error)));
  });
}

function lateError({ operation, ms, isWrite }: FieldDeadline): GatewayError {
  const cause = new DeadlineError(ms);
  return new GatewayError(isWrite ? 'unknown' : 'timeout', operation, cause.message, { cause });
}

/** Whether a value, or an item of a list, has still to settle: GraphQL would wait for each. */
export function isPending(value: unknown, level = 0): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value))
    return level < MAX_LEVELS && value.some((each) => isPending(each, level + 1));
  return typeof (value as { then?: unknown }).then === 'function' || Symbol.asyncIterator in value;
}

/** A list whose items fail one by one has their errors as items, which GraphQL reports as theirs. */
async function settledValue(
  pending: unknown,
  wait: Wait,
  lists: number,
  level = 0,
): Promise<unknown> {
  const value = listed(await pending, lists);
  if (!isPending(value)) return value;
  if (level > MAX_LEVELS) throw new RangeError(`more than ${MAX_LEVELS} lists in each other`);
  const items = Array.isArray(value) ? value : await itemsOf(value as AsyncIterable<unknown>, wait);
  return Promise.all(
    items.map((item) => settledValue(item, wait, lists - 1, level + 1).catch(readableError)),
  );
}

/** Returns an iterable as an array where the type is a list: an iterator could be read once, and the service would read it. */
export function listed(value: unknown, lists: number): unknown {
  if (lists <= 0 || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return lists > 1 ? value.map((each) => listed(each, lists - 1)) : value;
  if (!(Symbol.iterator in value)) return value;
  const items: unknown[] = [];
  for (const item of value as Iterable<unknown>) {
    items.push(listed(item, lists - 1));
    if (items.length > MAX_ITEMS) throw new RangeError(`a list of more than ${MAX_ITEMS} items`);
  }
  return items;
}

/** An item that is no leaf of its type is an error of its own. */
function leaves(value: unknown, lists: number, leaf: (value: unknown) => unknown): unknown {
  if (value instanceof Error) return value;
  if (lists <= 0 || !Array.isArray(value)) return leaf(value);
  return value.map((item) => {
    try {
      return leaves(item, lists - 1, leaf);
    } catch (error) {
      return readableError(error);
    }
  });
}

/** JSON as it is sent. The scalar refuses a value that JSON leaves out, such as a function. */
export function jsonLeaf(value: unknown): unknown {
  return plainJson(value) ?? value;
}

/** An object in place of a text or a number, as GraphQL's own scalars read it. */
export function primitiveLeaf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { toJSON, valueOf: read } = value as { toJSON?: unknown; valueOf?: unknown };
  const plain: unknown = typeof read === 'function' ? read.call(value) : value;
  const shown = isPrimitive(plain) || typeof toJSON !== 'function' ? plain : toJSON.call(value);
  if (!isPrimitive(shown)) throw new TypeError(`an object is no leaf: ${inspect(shown)}`);
  return shown;
}

function isPrimitive(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
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

/** Turns whatever code has thrown into an error that can be read: GraphQL and the log read all of these. */
export function readableError(thrown: unknown): Error {
  try {
    if (thrown instanceof Error) {
      const { message, stack = '' } = thrown;
      const { extensions, originalError, path } = thrown as Partial<GraphQLError>;
      const isOfTexts = typeof message === 'string' && typeof stack === 'string';
      const isOwnCause = originalError === thrown;
      if (isOfTexts && !isOwnCause && isPlainJson([extensions, path])) {
        // With a path, such as one of another service's answer, GraphQL would take it for an error of that field.
        return Array.isArray(path)
          ? Object.assign(new GraphQLError(message, { extensions }), { stack })
          : thrown;
      }
      const error = new Error(`an error whose details cannot be read: ${inspect(message)}`);
      return typeof stack === 'string' ? Object.assign(error, { stack }) : error;
    }
    return new Error(`no error was thrown, but ${inspect(thrown)}`);
  } catch {
    return new Error('what was thrown cannot be read');
  }
}
