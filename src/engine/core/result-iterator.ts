import type { ExecutionResult } from 'graphql';
import { EventIterator } from '../../lib/event-iterator.ts';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import type { MaybePromise } from '../../lib/maybe-promise.ts';

interface Mapping<Event> {
  resultOf(event: Event): MaybePromise<ExecutionResult>;
  /** Converts a failure to the last result; null if the transport itself reports it. */
  lastResult(error: unknown): ExecutionResult | null;
  /** Called once, when the results have ended, for any reason. */
  ended(): void;
}

type Next = IteratorResult<ExecutionResult, undefined>;
const DONE = { done: true, value: undefined } as const;

/** One result, or the results of events, or the parts of an answer. */
export type Answer = ResultIterator | ExecutionResult;

/**
 * The results of events, or the parts of an answer. A generator would not do: its `return` waits for the next event, and a
 * quiet feed has none.
 */
export class ResultIterator<Event = unknown>
  implements AsyncIterableIterator<ExecutionResult, undefined>
{
  readonly #events: AsyncIterator<Event>;
  readonly #mapping: Mapping<Event>;
  /** Null if the events cannot tell that they have failed. */
  readonly #source: EventIterator<unknown> | null;
  /** The results from which plugins have made these; null if no plugin has. */
  readonly #inner: ResultIterator | null;
  #resolve: (next: Next) => void = () => {};
  #isOver = false;
  #last: ExecutionResult | null = null;
  /** The last result, if the reader was busy when the results ended by it. */
  #unread: ExecutionResult | null = null;
  #isAwaited = false;
  /** The error of `fail`. */
  #failure: unknown = null;

  constructor(
    events: AsyncIterable<Event>,
    mapping: Mapping<Event>,
    inner: ResultIterator | null = null,
  ) {
    this.#inner = inner;
    this.#events = events[Symbol.asyncIterator]();
    this.#mapping = mapping;
    this.#source = events instanceof EventIterator ? events : null;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Next> {
    if (this.#isOver) return Promise.resolve(this.#takeUnread());
    this.#isAwaited = true;
    const { promise, resolve } = Promise.withResolvers<Next>();
    this.#resolve = resolve;
    const advanced = this.#advance().then((next) => {
      this.#isAwaited = false;
      resolve(next);
    });
    fireAndForget('results', advanced);
    return promise;
  }

  /** Ends the results by an error at once, even if the events know nothing of it. */
  fail(error: unknown): void {
    if (this.#isOver) return;
    this.#failure = error;
    const last = this.#fail(error);
    if (this.#isAwaited) this.#resolve(last === null ? DONE : { done: false, value: last });
    else this.#unread = last;
  }

  async return(): Promise<Next> {
    this.#end();
    this.#resolve(DONE);
    return DONE;
  }

  /** The results that plugins make of these. They end at once, even if a plugin waits for the next event. */
  changedBy(plugins: AsyncIterable<ExecutionResult>): ResultIterator {
    const mapping: Mapping<ExecutionResult> = {
      resultOf: (result) => result,
      lastResult: (error) => this.#mapping.lastResult(error),
      ended: () => fireAndForget('results', this.return()),
    };
    return new ResultIterator(plugins, mapping, this);
  }

  /**
   * Call it in the turn in which a result is written, because the client's token may have been refused since it was made.
   * Returns the result. If the results have failed, returns the last result in its place, or null for nothing.
   */
  unlessFailed(result: ExecutionResult): ExecutionResult | null {
    if (this.#inner !== null) return this.#inner.unlessFailed(result);
    const failure = this.#failure ?? this.#source?.failure ?? null;
    const isOfAccount = result.data != null;
    if (failure === null || !isOfAccount) return result;
    const last = this.#fail(failure);
    this.#unread = null;
    return last;
  }

  #takeUnread(): Next {
    const last = this.#unread;
    this.#unread = null;
    return last === null ? DONE : { done: false, value: last };
  }

  async #advance(): Promise<Next> {
    try {
      const { done, value } = await this.#events.next();
      if (done) return await this.return();
      const result = this.#isOver ? null : await this.#mapping.resultOf(value);
      const checked = this.#isOver || result === null ? null : this.unlessFailed(result);
      return checked === null ? DONE : { done: false, value: checked };
    } catch (error) {
      const last = this.#isOver ? null : this.#fail(this.#source?.failure ?? error);
      return last === null ? DONE : { done: false, value: last };
    }
  }

  /** Ends the results by an error. Returns the last result. */
  #fail(error: unknown): ExecutionResult | null {
    if (this.#isOver) return this.#last;
    this.#last = this.#mapping.lastResult(error);
    this.#end();
    return this.#last;
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#mapping.ended();
    // A generator returns only after its next event.
    fireAndForget('results', Promise.resolve(this.#events.return?.()));
  }
}
