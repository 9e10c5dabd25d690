import type { ExecutionResult } from 'graphql';
import { runInCore, runInExtension } from '../../lib/extension-code.ts';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import { pullStreamOf } from '../../lib/pull-stream.ts';
import { FollowedEvents } from '../execution/delivery.ts';
import type { ErrorCodes } from '../operation/error-codes.ts';
import type { RequestSummary } from '../operation/request-summary.ts';
import {
  type JsonText,
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
  readonly #events: OperationEvents;
  #hasBegun = false;
  #isOver = false;
  /** An iterator may be asked for several results before it has the first. */
  readonly #asked: ((step: Step) => void)[] = [];
  /** What the source waits for, until the next result is asked for. */
  #proceed: (() => void) | null = null;

  constructor(events: OperationEvents) {
    this.#events = events;
  }

  next(): Promise<Step> {
    if (this.#isOver) return Promise.resolve(OVER);
    return new Promise((resolve) => {
      this.#asked.push(resolve);
      if (this.#hasBegun) this.#goOn();
      else runInCore(() => this.#begin());
    });
  }

  async return(): Promise<Over> {
    this.#end();
    return this.#events.return();
  }

  hasRoom(ready: () => void): boolean {
    if (this.#asked.length > 0) return true;
    this.#proceed = ready;
    return false;
  }

  send(text: JsonText, taken: () => void): void {
    const json = Array.isArray(text) ? Buffer.concat(text).toString() : (text as string);
    this.#proceed = taken;
    this.#asked.shift()?.({ done: false, value: JSON.parse(json) });
    if (this.#asked.length > 0) this.#goOn();
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
    for (const answer of this.#asked.splice(0)) answer(OVER);
  }

  #goOn(): void {
    const proceed = this.#proceed;
    this.#proceed = null;
    if (proceed !== null) runInCore(proceed);
  }
}

interface ContainedOptions {
  readonly extension: string;
  readonly codes: ErrorCodes;
  readonly record: RequestSummary;
}

/**
 * The events of a subscription as other plugins hand them on: what their iterator yields is sent. Whatever it throws ends this
 * subscription alone, and its source in any case. `events`: the source; null where theirs have none of ours.
 */
export function containedEvents(
  theirs: AsyncIterable<ExecutionResult>,
  events: OperationEvents | null,
  { extension, codes, record }: ContainedOptions,
): OperationEvents {
  const run = <Result>(work: () => Result) => runInExtension(extension, work);
  const iterator = run(() => theirs[Symbol.asyncIterator]());
  const values = { [Symbol.asyncIterator]: () => ({ next: () => run(() => iterator.next()) }) };

  /** Errors of a plugin's own get our codes. */
  function checked(result: ExecutionResult): ExecutionResult {
    if (typeof result !== 'object' || result === null) throw new TypeError('no result');
    const { errors } = result;
    if (errors === undefined || errors.every(isOurs)) return result;
    const coded = errors.flatMap((each) =>
      isOurs(each) ? each : codes.refusal(each, record).errors,
    );
    return { ...result, errors: coded };
  }

  /** A plugin's end may fail, or never come. */
  async function end(): Promise<void> {
    try {
      await run(() => iterator.return?.());
    } catch (error) {
      codes.pluginFailed(error);
    }
  }

  return new FollowedEvents(pullStreamOf<unknown>(values), {
    text(value) {
      const result = checked(value as ExecutionResult);
      return run(() => JSON.stringify(result));
    },
    failure: (error) =>
      events === null ? { errors: codes.refusal(error, record).errors } : events.failure(error),
    ended() {
      events?.leave();
      fireAndForget('response', end());
    },
  });
}
