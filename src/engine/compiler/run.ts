import type { ExecutionResult } from 'graphql';

export type Complete = (run: Run, value: unknown) => unknown;
export type RunRoot = (run: Run, source: unknown) => Record<string, unknown>;

type Target = Record<string, unknown>;

/** One execution of compiled code: what its resolvers are given, and what they still owe. */
export class Run {
  readonly context: unknown;
  /** By the number of the field that takes them. */
  readonly args: readonly unknown[];
  #pending = 0;
  #isOver = false;
  #whole: ExecutionResult | null = null;
  // The promise's own function and no closure around it: a closure that is kept in a field ties the run
  // to the next one's, and then no minor collection frees either.
  #end: ((result: ExecutionResult | null) => void) | null = null;

  constructor(context: unknown, args: readonly unknown[]) {
    this.context = context;
    this.args = args;
  }

  /** Null where the answer would not be whole: then somebody else has to say what went wrong. */
  answer(root: RunRoot, source: unknown): ExecutionResult | Promise<ExecutionResult | null> | null {
    let data: Target;
    try {
      data = root(this, source);
    } catch {
      this.#isOver = true;
      return null;
    }
    const whole = { data };
    if (this.#pending === 0) return whole;
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
      () => this.#over(false),
    );
  }

  #arrived(value: unknown, complete: Complete, target: Target, key: string): void {
    if (this.#isOver) return;
    try {
      target[key] = complete(this, value);
    } catch {
      this.#over(false);
      return;
    }
    this.#pending -= 1;
    if (this.#pending === 0) this.#over(true);
  }

  #over(isWhole: boolean): void {
    this.#isOver = true;
    this.#end?.(isWhole ? this.#whole : null);
  }
}
