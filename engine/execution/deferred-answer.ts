import type { ExecutionResult } from 'graphql';
import type { MaybePromise } from '../../lib/maybe-promise.ts';
import {
  type Delivery,
  type EventText,
  type OperationEvents,
  OVER,
  type Over,
  type ResultSink,
} from '../operation/result-sink.ts';
import type { PartsFormat } from '../operation/transport-context.ts';

/** A part of an answer, which is being made. */
export interface AnswerPart {
  readonly label: string | null;
  readonly result: Promise<ExecutionResult>;
}

/** Writes one message; large ones in slices, and packed for a sink that unpacks. */
type Write = (message: object, isPacked: boolean) => MaybePromise<EventText>;

/**
 * An answer in parts: the first without the deferred fragments, then each of these when it is whole, one after the other
 * as their reader takes them.
 */
export class DeferredAnswer implements OperationEvents {
  readonly #format: PartsFormat;
  readonly #first: Promise<ExecutionResult>;
  readonly #parts: readonly AnswerPart[];
  readonly #write: Write;
  readonly #ended: () => object;
  readonly #over = Promise.withResolvers<Over>();
  #sink: ResultSink | null = null;
  #hasBegun = false;
  #isOver = false;

  /** `ended` is called when all parts are made, and returns what the last message has beside the result. */
  constructor(
    format: PartsFormat,
    first: Promise<ExecutionResult>,
    parts: readonly AnswerPart[],
    write: Write,
    ended: () => object,
  ) {
    this.#format = format;
    this.#first = first;
    this.#parts = parts;
    this.#write = write;
    this.#ended = ended;
  }

  deliver(sink: ResultSink, outcome: AsyncIterable<never> = this): Delivery {
    this.#sink = sink;
    return outcome[Symbol.asyncIterator]() as Delivery;
  }

  next(): Promise<Over> {
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      this.#run().then(
        () => this.leave(),
        (error: unknown) => this.#over.reject(error),
      );
    }
    return this.#over.promise;
  }

  async return(): Promise<Over> {
    this.leave();
    return OVER;
  }

  /** Ends the answer: reads of the parts end with their request, and nothing more is sent. */
  leave(): void {
    this.#isOver = true;
    this.#over.resolve(OVER);
  }

  fail(error: unknown): void {
    this.#over.reject(error);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #run(): Promise<void> {
    const messages = FORMATS[this.#format];
    await this.#send(messages.first(await this.#first, this.#parts));
    const waiting = new Map(
      this.#parts.map(({ label, result }, id) => [
        id,
        result.then((made) => ({ id, label, made })),
      ]),
    );
    while (waiting.size > 0) {
      const { id, label, made } = await Promise.race(waiting.values());
      waiting.delete(id);
      const last = waiting.size === 0 ? this.#ended() : {};
      const message = messages.next(made, String(id), label);
      await this.#send({ ...message, ...last, hasNext: waiting.size > 0 });
    }
  }

  async #send(message: object): Promise<void> {
    const sink = this.#sink;
    if (this.#isOver || sink === null) return;
    const over = this.#over.promise;
    await Promise.race([over, new Promise<void>((ready) => sink.hasRoom(ready) && ready())]);
    const text = await this.#write(message, sink.takesPacked);
    if (this.#isOver) return;
    // Bytes that cannot be written never leave: then its transport ends it.
    await Promise.race([over, new Promise<void>((left) => sink.send(text, left))]);
  }
}

interface Messages {
  first(result: ExecutionResult, parts: readonly AnswerPart[]): object;
  next(result: ExecutionResult, id: string, label: string | null): object;
}

const ROOT: readonly string[] = [];

const FORMATS: Readonly<Record<PartsFormat, Messages>> = {
  // The proposal of 2022, as Apollo's clients and the network layers for Relay read it.
  deferSpec: {
    first: (result) => ({ ...result, hasNext: true }),
    next: (result, _id, label) => ({
      incremental: [{ ...result, path: ROOT, ...(label !== null && { label }) }],
    }),
  },
  // The present proposal, as graphql 17 writes it.
  incrementalSpec: {
    first: (result, parts) => ({
      ...result,
      pending: parts.map(({ label }, id) => ({
        id: String(id),
        path: ROOT,
        ...(label !== null && { label }),
      })),
      hasNext: true,
    }),
    next: ({ data, errors }, id) =>
      data == null
        ? { completed: [{ id, errors }] }
        : { incremental: [{ id, data, ...(errors && { errors }) }], completed: [{ id }] },
  },
};
