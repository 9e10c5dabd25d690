import type { ExecutionResult } from 'graphql';
import type { MaybePromise } from '../../lib/maybe-promise.ts';
import type { PullStream, StreamListener } from '../../lib/pull-stream.ts';
import type { JsonText, OperationEvents, ResultSink } from '../operation/result-sink.ts';

interface ResultSource {
  /** Returns an event's result as JSON. Subscribers who receive the same event share one text. */
  readonly text: (event: unknown) => MaybePromise<JsonText>;
  /** Converts a failure to a last result, or to null if nothing is sent. */
  readonly failure: (error: unknown) => ExecutionResult | null;
  /** Called when the subscription has ended, for any reason. */
  readonly ended: () => void;
}

/**
 * The results of a subscription, delivered in the turn in which an event is published. It is an async iterable only by its
 * type, which yoga requires. Transports call `deliver` instead.
 */
export class FollowedEvents implements OperationEvents, StreamListener {
  readonly #events: PullStream<unknown>;
  readonly #source: ResultSource;
  readonly #delivered = Promise.withResolvers<void>();
  readonly #onReady = () => this.#continue();
  #sink: ResultSink | null = null;
  /** Whether a result is being computed, its reader has not taken it, or the sink has no room. */
  #isBusy = false;
  /** Whether an event was published while this was busy. */
  #isWoken = false;
  #isOver = false;
  /** How the source has ended, with a null error if nothing failed; null while the source has not ended. */
  #end: { readonly error: unknown } | null = null;

  constructor(events: PullStream<unknown>, source: ResultSource) {
    this.#events = events;
    this.#source = source;
  }

  deliver(sink: ResultSink): Promise<void> {
    this.#sink = sink;
    this.#events.listen(this);
    return this.#delivered.promise;
  }

  leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#delivered.resolve();
    this.#source.ended();
    this.#events.leave();
  }

  [Symbol.asyncIterator](): never {
    throw new Error('events are delivered to a transport');
  }

  woken(): void {
    // Events that are published in the meantime are merged, and sent after the event in progress.
    this.#isWoken = this.#isBusy;
    if (this.#isBusy || this.#isOver) return;
    if (!this.#reader.hasRoom(this.#onReady)) {
      this.#isBusy = true;
      this.#isWoken = true;
      return;
    }
    const event = this.#events.take();
    if (event === undefined) return;
    this.#isBusy = true;
    this.#send(event);
  }

  ended(error: Error | null): void {
    this.#end ??= { error };
    if (!this.#isBusy) this.#finish(this.#end.error);
  }

  #send(event: unknown): void {
    try {
      const text = this.#source.text(event);
      if (text instanceof Promise) this.#sendLater(text);
      else this.#reader.send(text, this.#onReady);
    } catch (error) {
      this.#finish(error);
    }
  }

  #sendLater(text: Promise<JsonText>): void {
    text
      .then((written) => {
        // The client may have disconnected in the meantime.
        if (this.#isOver) return;
        // The client's token may have been refused. Then the client receives no more of the account's data.
        if (this.#end?.error) this.#finish(this.#end.error);
        else this.#reader.send(written, this.#onReady);
      })
      // If the source has ended, the reason of its end is reported, not this error.
      .catch((error: unknown) => this.#finish(this.#end === null ? error : this.#end.error));
  }

  #continue(): void {
    if (this.#isOver) return;
    this.#isBusy = false;
    if (this.#end) this.#finish(this.#end.error);
    else if (this.#isWoken) this.woken();
  }

  #finish(error: unknown): void {
    this.#isBusy = true;
    const last = error === null ? null : this.#source.failure(error);
    if (last === null) this.leave();
    else this.#reader.send(JSON.stringify(last), () => this.leave());
  }

  get #reader(): ResultSink {
    if (this.#sink === null) throw new Error('events are delivered to a transport');
    return this.#sink;
  }
}
