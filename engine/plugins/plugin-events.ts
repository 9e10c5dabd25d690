import type { ExecutionResult } from 'graphql';
import { runInCore, runInExtension } from '../../lib/extension-code.ts';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import type { ErrorCodes } from '../operation/error-codes.ts';
import type { RequestSummary } from '../operation/request-summary.ts';
import {
  type EventText,
  type OperationEvents,
  OVER,
  type Over,
  type ResultSink,
} from '../operation/result-sink.ts';
import { isOurs } from './plugin-view.ts';

type Step = IteratorResult<ExecutionResult, void>;

/**
 * The events of a subscription as other people's iterators are given them. Each is a result of their own, whoever else is sent the
 * same text, and the next is made once they ask for it. Where nobody wraps them, the transport takes the texts themselves.
 */
export class IteratedEvents implements AsyncIterableIterator<ExecutionResult, void>, ResultSink {
  readonly takesPacked = false;
  readonly #events: OperationEvents;
  #hasBegun = false;
  #isOver = false;
  #asked: ((step: Step) => void) | null = null;
  /** What the source waits for, until the next result is asked for. */
  #proceed: (() => void) | null = null;

  constructor(events: OperationEvents) {
    this.#events = events;
  }

  next(): Promise<Step> {
    if (this.#isOver) return Promise.resolve(OVER);
    return new Promise((resolve) => {
      this.#asked = resolve;
      const proceed = this.#hasBegun ? this.#proceed : () => this.#begin();
      this.#proceed = null;
      if (proceed !== null) runInCore(proceed);
    });
  }

  async return(): Promise<Over> {
    this.#end();
    return this.#events.return();
  }

  hasRoom(ready: () => void): boolean {
    if (this.#asked !== null) return true;
    this.#proceed = ready;
    return false;
  }

  send(text: EventText, taken: () => void): void {
    const json = Array.isArray(text) ? Buffer.concat(text).toString() : (text as string);
    this.#proceed = taken;
    this.#answer({ done: false, value: JSON.parse(json) });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #begin(): void {
    this.#hasBegun = true;
    const over = this.#events.deliver(this).next();
    fireAndForget(
      'response',
      over.then(() => this.#end()),
    );
  }

  #end(): void {
    this.#isOver = true;
    this.#answer(OVER);
  }

  #answer(step: Step): void {
    const asked = this.#asked;
    this.#asked = null;
    asked?.(step);
  }
}

interface ContainedOptions {
  readonly extension: string;
  readonly codes: ErrorCodes;
  readonly record: RequestSummary;
}

/**
 * The events of a subscription as other plugins hand them on: what their iterator yields is sent. Whatever it throws ends this
 * subscription alone, and its source in any case.
 */
export class ContainedEvents implements OperationEvents {
  readonly #iterator: AsyncIterator<ExecutionResult>;
  readonly #events: OperationEvents;
  readonly #options: ContainedOptions;
  readonly #over = Promise.withResolvers<Over>();
  #sink: ResultSink | null = null;
  #hasBegun = false;

  constructor(
    theirs: AsyncIterable<ExecutionResult>,
    events: OperationEvents,
    options: ContainedOptions,
  ) {
    this.#iterator = theirs[Symbol.asyncIterator]();
    this.#events = events;
    this.#options = options;
  }

  deliver(sink: ResultSink): this {
    this.#sink = sink;
    return this;
  }

  next(): Promise<Over> {
    if (!this.#hasBegun && this.#sink !== null) {
      this.#hasBegun = true;
      this.#sendAll(this.#sink).then(
        () => this.#over.resolve(OVER),
        (error) => this.fail(error),
      );
    }
    return this.#over.promise;
  }

  async return(): Promise<Over> {
    this.#over.resolve(OVER);
    // A plugin's end may fail, or never come.
    this.leave();
    try {
      await this.#theirs(() => this.#iterator.return?.());
    } catch (error) {
      this.#options.codes.pluginFailed(error);
    }
    return OVER;
  }

  fail(error: unknown): void {
    if (this.#sink !== null) this.#events.deliver(this.#sink);
    this.#events.fail(error);
    this.#over.resolve(OVER);
  }

  leave(): void {
    this.#events.leave();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #sendAll(sink: ResultSink): Promise<void> {
    for (;;) {
      // The next event is the newest once its reader has room for it.
      await roomOf(sink);
      const step = await this.#theirs(() => this.#iterator.next());
      if (step.done) return;
      const result = this.#checked(step.value);
      const text = this.#theirs(() => JSON.stringify(result));
      await new Promise<void>((taken) => sink.send(text, taken));
    }
  }

  /** Errors of a plugin's own get our codes. */
  #checked(result: ExecutionResult): ExecutionResult {
    if (typeof result !== 'object' || result === null) throw new TypeError('no result');
    const { errors } = result;
    if (errors === undefined || errors.every(isOurs)) return result;
    const { codes, record } = this.#options;
    const coded = errors.flatMap((each) =>
      isOurs(each) ? each : codes.refusal(each, record).errors,
    );
    return { ...result, errors: coded };
  }

  #theirs<Result>(run: () => Result): Result {
    return runInExtension(this.#options.extension, run);
  }
}

async function roomOf(sink: ResultSink): Promise<void> {
  let hasRoom = false;
  while (!hasRoom) {
    await new Promise<void>((ready) => {
      hasRoom = sink.hasRoom(ready);
      if (hasRoom) ready();
    });
  }
}
