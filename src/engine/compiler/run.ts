import type { ExecutionResult } from 'graphql';
import { COSTLY_FIELDS, extraForList, type Meter, OVER_BUDGET } from '../limits/meter.ts';

export type Complete = (run: Run, value: unknown) => unknown;
export type RunRoot = (run: Run, source: unknown) => Record<string, unknown>;
/** Completes the rest of a list, from an index on. */
export type CompleteRest = (
  run: Run,
  values: readonly unknown[],
  items: unknown[],
  at: number,
) => unknown;
export type Resolve = (source: unknown, args: never, context: unknown) => unknown;

type Target = Record<string, unknown>;

// Looking at the clock for each field would cost more than the field.
const FIELDS_BETWEEN_LOOKS = 1_000;

/**
 * One execution of compiled code: what its resolvers are given, what they still owe, and how much
 * the answer holds by now. Long work is left to later turns of the event loop.
 */
export class Run {
  readonly context: unknown;
  /** By the number of the field that takes them. */
  readonly args: readonly unknown[];
  readonly meter: Meter;
  readonly maxFields: number;
  /** Fields of the answer so far. Generated code adds to it by itself. */
  fields = 0;
  /** From this many fields on it is worth while to look at the clock. */
  lookAt = FIELDS_BETWEEN_LOOKS;
  #pending = 0;
  #isOver = false;
  #whole: ExecutionResult | null = null;
  // The promise's own function and no closure around it: a closure that is kept in a field ties the run
  // to the next one's, and then no minor collection frees either.
  #end: ((result: ExecutionResult | null) => void) | null = null;

  constructor(context: unknown, args: readonly unknown[], meter: Meter) {
    this.context = context;
    this.args = args;
    this.meter = meter;
    this.maxFields = meter.maxFields;
  }

  /** Null where the answer would not be whole: then somebody else has to say what went wrong. */
  answer(root: RunRoot, source: unknown): ExecutionResult | Promise<ExecutionResult | null> | null {
    let data: Target;
    try {
      data = root(this, source);
    } catch (error) {
      this.#isOver = true;
      this.meter.ran(this.fields);
      return this.#verdict(error);
    }
    const whole = { data };
    if (this.#pending === 0) {
      this.meter.ran(this.fields);
      return whole;
    }
    const { promise, resolve } = Promise.withResolvers<ExecutionResult | null>();
    this.#whole = whole;
    this.#end = resolve;
    return promise;
  }

  wait(value: PromiseLike<unknown>, complete: Complete, target: Target, key: string): void {
    this.#pending += 1;
    // What is no promise of the engine's could call back at once, in the middle of a literal.
    Promise.resolve(value).then(
      (arrived) => this.#arrived(arrived, complete, target, key),
      (error) => this.#fail(error),
    );
  }

  /** Whether the rest is to wait for a later turn. */
  isDue(): boolean {
    this.lookAt = this.fields + FIELDS_BETWEEN_LOOKS;
    const isDue = this.meter.scheduler.isSliceOver();
    // Whatever stands further out in the same answer is to find that too.
    if (isDue) this.lookAt = this.fields;
    return isDue;
  }

  get isCostly(): boolean {
    return this.meter.isCostly || this.fields > COSTLY_FIELDS;
  }

  later(rest: CompleteRest, values: readonly unknown[], items: unknown[], at: number): void {
    this.#later(() => {
      rest(this, values, items, at);
    });
  }

  /** Resolves a field in a later turn: what it reads can take as long as what it answers. */
  resolveLater(
    resolve: Resolve,
    source: unknown,
    number: number,
    place: { readonly complete: Complete; readonly target: Target; readonly key: string },
  ): void {
    const { complete, target, key } = place;
    this.#later(() => {
      const found = resolve(source, this.args[number] as never, this.context);
      if (isPromiseLike(found)) this.wait(found, complete, target, key);
      else target[key] = complete(this, found);
    });
  }

  /** What a list of leaves counts beyond its field. */
  countList(length: number): void {
    this.count(extraForList(length));
  }

  count(fields: number): void {
    this.fields += fields;
    if (this.fields > this.maxFields) throw OVER_BUDGET;
  }

  #later(work: () => void): void {
    const { scheduler, client } = this.meter;
    this.#pending += 1;
    scheduler.later(client, () => {
      this.lookAt = this.fields + FIELDS_BETWEEN_LOOKS;
      this.#attempt(work);
    });
  }

  #arrived(value: unknown, complete: Complete, target: Target, key: string): void {
    const place = () => {
      target[key] = complete(this, value);
    };
    if (this.isCostly && value !== null && typeof value === 'object') {
      this.#later(place);
      this.#pending -= 1;
    } else {
      this.#attempt(place);
    }
  }

  /** One of the things that the answer waits for. */
  #attempt(work: () => void): void {
    if (this.#isOver) return;
    try {
      work();
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#pending -= 1;
    if (this.#pending === 0) this.#settle(this.#whole);
  }

  #fail(error: unknown): void {
    if (!this.#isOver) this.#settle(this.#verdict(error));
  }

  #verdict(error: unknown): ExecutionResult | null {
    if (error === OVER_BUDGET) return { data: null, errors: [this.meter.error()] };
    return null;
  }

  #settle(result: ExecutionResult | null): void {
    this.#isOver = true;
    this.meter.ran(this.fields);
    this.#end?.(result);
  }
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null)?.then === 'function';
}
