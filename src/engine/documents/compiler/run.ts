import type { ExecutionResult, FieldNode } from 'graphql';
import type { MaybePromise } from '../../../lib/maybe-promise.ts';
import { COSTLY_FIELDS, FIELDS_PER_ERROR, type Meter, OVER_BUDGET } from '../../operation/meter.ts';
import { isPromiseLike } from './metering.ts';

/** The nullable root fields by their response keys: if one of them fails, the others are still answered. */
export type NullableFields = ReadonlyMap<string, readonly FieldNode[]>;

export type Complete = (run: Run, value: unknown) => unknown;
export type RunRoot = (run: Run, source: unknown) => Record<string, unknown>;
/** Completes the `values` of a list from the index `i` on, and appends them to `items`. */
type CompleteRest = (run: Run, values: readonly unknown[], items: unknown[], i: number) => unknown;
type Resolve = (source: unknown, args: never, context: unknown) => unknown;

type Target = Record<string, unknown>;

// Reading the clock for each field would cost more than the field.
const FIELDS_BETWEEN_CLOCK_CHECKS = 1_000;

/** One execution of compiled code: its context, pending promises and field count. Long work yields to later turns. */
export class Run {
  readonly context: unknown;
  /** The arguments of each resolver, by its index. */
  readonly args: readonly unknown[];
  readonly meter: Meter;
  readonly maxFields: number;
  /** The number of fields of the answer so far. Generated code reads it as well. */
  fields = 0;
  /** The clock is checked again when this number of fields is reached. */
  nextClockCheck = FIELDS_BETWEEN_CLOCK_CHECKS;
  /** The number of tasks that the answer waits for. */
  pending = 0;
  #isOver = false;
  /** The nullable root fields whose resolvers failed, in the order of their failures. */
  readonly failures: { readonly key: string; readonly error: unknown }[] = [];
  readonly #nullable: NullableFields;
  /** The answer, to which pending tasks still add fields; null if nothing is pending. */
  #whole: ExecutionResult | null = null;
  // The promise's own resolve function is kept: a closure would make each run refer to the next, and keep all alive.
  #resolveAnswer: ((result: ExecutionResult | null) => void) | null = null;

  constructor(context: unknown, args: readonly unknown[], nullable: NullableFields, meter: Meter) {
    this.context = context;
    this.#nullable = nullable;
    this.args = args;
    this.meter = meter;
    this.maxFields = meter.maxFields;
  }

  /** Returns null if the reference executor has to answer in place of this run, and report an error. */
  answer(root: RunRoot, source: unknown): MaybePromise<ExecutionResult | null> {
    let data: Target;
    try {
      data = root(this, source);
    } catch (error) {
      this.#isOver = true;
      this.meter.ran(this.fields);
      return this.#resultAfter(error);
    }
    const whole = { data };
    if (this.pending === 0) {
      this.meter.ran(this.fields);
      return whole;
    }
    const { promise, resolve } = Promise.withResolvers<ExecutionResult | null>();
    this.#whole = whole;
    this.#resolveAnswer = resolve;
    return promise;
  }

  wait(value: PromiseLike<unknown>, complete: Complete, target: Target, key: string): void {
    this.pending += 1;
    // A foreign thenable could call back at once, while generated code still builds an object. Promise.resolve prevents that.
    Promise.resolve(value).then(
      (resolved) => this.#resolved(resolved, complete, target, key),
      (error) => this.#attempt(() => this.#rejected(error, target, key)),
    );
  }

  /** Makes a nullable root field null: its error does not propagate. Other errors are left to the reference executor. */
  #rejected(error: unknown, target: Target, key: string): void {
    if (target !== this.#whole?.data || !this.#nullable.has(key)) throw error;
    this.count(FIELDS_PER_ERROR);
    target[key] = null;
    this.failures.push({ key, error });
  }

  /** Whether further work has to wait for a later turn of the event loop. */
  mustYield(): boolean {
    this.nextClockCheck = this.fields + FIELDS_BETWEEN_CLOCK_CHECKS;
    const isSliceOver = this.meter.scheduler.isSliceOver();
    // The enclosing lists then check the clock at their next item, and yield too.
    if (isSliceOver) this.nextClockCheck = this.fields;
    return isSliceOver;
  }

  get isCostly(): boolean {
    return this.meter.isCostly || this.fields > COSTLY_FIELDS;
  }

  completeLater(rest: CompleteRest, values: readonly unknown[], items: unknown[], i: number): void {
    this.#later(() => {
      rest(this, values, items, i);
    });
  }

  /** Resolves a field in a later turn, because its resolver may take as long as a slice. */
  resolveLater(
    resolve: Resolve,
    source: unknown,
    index: number,
    field: { readonly complete: Complete; readonly target: Target; readonly key: string },
  ): void {
    const { complete, target, key } = field;
    this.#later(() => {
      const resolved = resolve(source, this.args[index] as never, this.context);
      if (isPromiseLike(resolved)) this.wait(resolved, complete, target, key);
      else target[key] = complete(this, resolved);
    });
  }

  count(fields: number): void {
    this.fields += fields;
    if (this.fields > this.maxFields) throw OVER_BUDGET;
  }

  #later(work: () => void): void {
    const { scheduler, client } = this.meter;
    this.pending += 1;
    scheduler.later(client, () => {
      this.nextClockCheck = this.fields + FIELDS_BETWEEN_CLOCK_CHECKS;
      this.#attempt(() => {
        if (this.meter.isOverNow()) throw OVER_BUDGET;
        work();
      });
    });
  }

  #resolved(value: unknown, complete: Complete, target: Target, key: string): void {
    const setField = () => {
      target[key] = complete(this, value);
    };
    if (this.isCostly && value !== null && typeof value === 'object') {
      // `#later` counts `setField` as a new pending task, and the task that waited for the value is done.
      this.#later(setField);
      this.pending -= 1;
    } else {
      this.#attempt(setField);
    }
  }

  /** Runs one of the tasks that the answer waits for. */
  #attempt(work: () => void): void {
    if (this.#isOver) return;
    try {
      work();
    } catch (error) {
      this.#settle(this.#resultAfter(error));
      return;
    }
    this.pending -= 1;
    if (this.pending === 0) this.#settle(this.#whole);
  }

  #resultAfter(error: unknown): ExecutionResult | null {
    if (error === OVER_BUDGET) return { data: null, errors: [this.meter.error()] };
    return null;
  }

  #settle(result: ExecutionResult | null): void {
    this.#isOver = true;
    this.meter.ran(this.fields);
    this.#resolveAnswer?.(result);
  }
}
