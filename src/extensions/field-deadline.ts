import { inspect } from 'node:util';
import { GraphQLError } from 'graphql';
import { attribute, runInExtension } from '../../lib/extension-code.ts';
import { isPlainJson } from '../../lib/plain-json.ts';
import { DeadlineError, GatewayError } from '../gateway/errors.ts';

export interface FieldDeadline {
  /** The name of the extension. */
  readonly extension: string;
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
  /** Returns a value as plain data, and throws what GraphQL would, outside of the extension's code. */
  readonly read: (value: unknown) => unknown;
}

interface Wait {
  isOver: boolean;
  readonly failed: (thrown: unknown) => Error;
}

// A list that never ends would fill the heap before the deadline.
const MAX_ITEMS = 100_000;
// The log redacts a number without its comma, as it does a telephone number.
const TOO_MANY_ITEMS = 'a list of more than 100,000 items';
/** The most lists that may be nested in each other. */
const MAX_LEVELS = 10;
const ANY: FieldShape = { lists: 0, read: (value) => value };

/**
 * Runs code of an extension for one field, and waits for what it returns as long as the deadline allows; what settles later
 * is dropped. `given.abort` is called where the deadline has passed, so that the code may stop.
 */
export function withinDeadline(
  deadline: FieldDeadline,
  given: Pick<AbortController, 'abort'> | null,
  run: () => unknown,
  { lists, read }: FieldShape = ANY,
): unknown {
  const { extension, ms } = deadline;
  const failed = (error: unknown) => failureOf(extension, error);
  const wait: Wait = { isOver: false, failed };
  let made: unknown;
  try {
    made = runInExtension(extension, () => {
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
    items.map((item) => settledValue(item, wait, lists - 1, level + 1).catch(wait.failed)),
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
    if (items.length > MAX_ITEMS) throw new RangeError(TOO_MANY_ITEMS);
  }
  return items;
}

async function itemsOf(source: AsyncIterable<unknown>, wait: Wait): Promise<readonly unknown[]> {
  const items: unknown[] = [];
  for await (const item of source) {
    items.push(item);
    if (items.length > MAX_ITEMS) throw new RangeError(TOO_MANY_ITEMS);
    if (wait.isOver) break;
  }
  return items;
}

/** Returns an error for what code of an extension has thrown, attributed to the extension. */
export function failureOf(extension: string, thrown: unknown): Error {
  return runInExtension(extension, () => attribute(readableError(thrown), extension));
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
        // GraphQL would take an error with a path, such as one of another service's answer, for one of that field.
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
