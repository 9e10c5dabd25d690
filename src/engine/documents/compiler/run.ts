import type { ExecutionResult, FieldNode } from 'graphql';
import type { MaybePromise } from '../../../lib/maybe-promise.ts';
import { FIELDS_PER_ERROR, type Meter, OVER_BUDGET } from '../../core/meter.ts';

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
