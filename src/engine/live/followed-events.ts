import type { ExecutionResult } from 'graphql';
import { MappedStream, type StreamMap } from '../../lib/map-stream.ts';
import { PullStream } from '../../lib/pull-stream.ts';
import type { JsonText } from '../json-text.ts';
import { Delivery, type ResultSink } from './delivery.ts';

export interface ResultMap extends StreamMap<unknown, ExecutionResult> {
  /** The result as JSON; subscribers who receive the same event share one text. */
  readonly text: (event: unknown) => JsonText | Promise<JsonText>;
  readonly failure: (error: unknown) => ExecutionResult | null;
}

/** The results of a subscription, to be iterated or delivered as they are published. */
export class FollowedEvents extends MappedStream<unknown, ExecutionResult> {
  readonly #events: AsyncIterable<unknown>;
  readonly #map: ResultMap;

  constructor(events: AsyncIterable<unknown>, map: ResultMap) {
    super(events[Symbol.asyncIterator](), map);
    this.#events = events;
    this.#map = map;
  }

  /**
   * Delivers to a transport that writes results itself. The returned iterator yields nothing and
   * completes with the stream; where events cannot be delivered, it yields them instead.
   */
  deliver(sink: ResultSink): AsyncGenerator<ExecutionResult, void, void> {
    if (!(this.#events instanceof PullStream)) return this;
    return new Delivery(this.#events, {
      sink,
      text: this.#map.text,
      failure: this.#map.failure,
      leave: () => this.return(),
    });
  }
}
