import {
  type ExecutionResult,
  type FieldNode,
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  type GraphQLLeafType,
  type GraphQLOutputType,
  GraphQLString,
} from 'graphql';
import { abandon, isPromiseLike, type MaybePromise } from '../../../lib/maybe-promise.ts';
import { extraForText, FIELDS_PER_ERROR, type Meter, OVER_BUDGET } from '../../core/meter.ts';

/** The nullable root fields by their response keys: if one of them fails, the others are still answered. */
export type NullableFields = ReadonlyMap<string, readonly FieldNode[]>;

export type Complete = (run: Run, value: unknown) => unknown;
/** An object of the answer. */
export type Target = Record<string, unknown>;

/** One execution of a compiled operation: its context, its meter and its pending promises. */
export class Run {
  readonly context: unknown;
  /** The arguments of each resolver, by its index. */
  readonly args: readonly unknown[];
  readonly meter: Meter;
  /** The nullable root fields whose resolvers failed, in the order of their failures. */
  readonly failures: { readonly key: string; readonly error: unknown }[] = [];
  /** The number of values that the answer waits for. */
  #pending = 0;
  #isOver = false;
  readonly #nullable: NullableFields;
  /** The answer, to which pending values are still added; null if nothing is pending. */
  #whole: ExecutionResult | null = null;
  // The promise's own resolve function is kept: a closure would make each run refer to the next, and keep all alive.
  #resolveAnswer: ((result: ExecutionResult | null) => void) | null = null;

  constructor(context: unknown, args: readonly unknown[], nullable: NullableFields, meter: Meter) {
    this.context = context;
    this.args = args;
    this.#nullable = nullable;
    this.meter = meter;
  }

  /** Returns null if the reference executor has to answer in place of this run, and report an error. */
  answer(
    root: (run: Run, source: unknown) => Target,
    source: unknown,
  ): MaybePromise<ExecutionResult | null> {
    this.meter.begin();
    let data: Target;
    try {
      data = root(this, source);
    } catch (error) {
      this.#isOver = true;
      return this.#resultAfter(error);
    }
    const whole = { data };
    if (this.#pending === 0) return whole;
    const { promise, resolve } = Promise.withResolvers<ExecutionResult | null>();
    this.#whole = whole;
    this.#resolveAnswer = resolve;
    return promise;
  }

  wait(value: PromiseLike<unknown>, complete: Complete, target: Target, key: string): void {
    this.#pending += 1;
    // A foreign thenable could call back at once, while its object is still being made. Promise.resolve prevents that.
    Promise.resolve(value).then(
      (resolved) =>
        this.#attempt(() => {
          target[key] = complete(this, resolved);
        }),
      (error) => this.#attempt(() => this.#rejected(error, target, key)),
    );
  }

  /** Counts what no list includes: long texts and errors. */
  count(fields: number): void {
    if (!this.meter.count(fields)) throw OVER_BUDGET;
  }

  /** Makes a nullable root field null: its error does not propagate. Other errors are left to the reference executor. */
  #rejected(error: unknown, target: Target, key: string): void {
    if (target !== this.#whole?.data || !this.#nullable.has(key)) throw error;
    this.count(FIELDS_PER_ERROR);
    target[key] = null;
    this.failures.push({ key, error });
  }

  /** Adds one of the values that the answer waits for. */
  #attempt(work: () => void): void {
    if (this.#isOver) return;
    try {
      work();
    } catch (error) {
      this.#settle(this.#resultAfter(error));
      return;
    }
    this.#pending -= 1;
    if (this.#pending === 0) this.#settle(this.#whole);
  }

  #resultAfter(error: unknown): ExecutionResult | null {
    if (error === OVER_BUDGET) return { data: null, errors: [this.meter.error()] };
    return null;
  }

  #settle(result: ExecutionResult | null): void {
    this.#isOver = true;
    this.#resolveAnswer?.(result);
  }
}

/** Thrown if an answer would be incomplete: the reference executor reports the error. A singleton captures no stack. */
const NOT_WHOLE = new Error('the answer would not be whole');

/** Returns the error for a value that a compiled operation cannot complete, and drops the value. */
export function notWhole(value: unknown): Error {
  abandon(value);
  return NOT_WHOLE;
}

/** Whether a value is sent as it is: most values need no conversion, and few texts count as more than their field. */
export function isPlainLeaf(type: GraphQLOutputType, value: unknown): boolean {
  switch (type) {
    case GraphQLFloat:
      return Number.isFinite(value);
    case GraphQLString:
    case GraphQLID:
      return typeof value === 'string' && extraForText(value.length) === 0;
    case GraphQLInt:
      // `| 0` converts to an integer of 32 bits.
      return typeof value === 'number' && (value | 0) === value;
    case GraphQLBoolean:
      return typeof value === 'boolean';
    default:
      return false;
  }
}

/** Serializes a leaf as its type does. */
export function completeLeaf(type: GraphQLLeafType, run: Run, value: unknown): unknown {
  if (isPlainLeaf(type, value)) return value;
  if (value == null || isForReference(value)) throw notWhole(value);
  if (typeof value === 'string' && (type === GraphQLString || type === GraphQLID)) {
    run.count(extraForText(value.length));
    return value;
  }
  const shown = type.coerceOutputValue(value);
  if (shown == null) throw NOT_WHOLE;
  return shown;
}

/** Whether a value is an error, a method or a promise, which the reference executor handles. No leaf of this schema is any. */
function isForReference(value: unknown): boolean {
  if (typeof value !== 'object') return typeof value === 'function';
  return value instanceof Error || isPromiseLike(value);
}
