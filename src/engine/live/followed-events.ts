import type { ExecutionResult } from 'graphql';
import { MappedStream, type StreamMap } from '../../lib/map-stream.ts';
import { PullStream } from '../../lib/pull-stream.ts';
import { Delivery, type ResultSink } from './delivery.ts';

export interface ResultMap extends StreamMap<unknown, ExecutionResult> {
  /** The result as JSON; the same text for all who are told the same. */
  readonly text: (event: unknown) => string | Promise<string>;
  readonly failure: (error: unknown) => ExecutionResult | null;
}

/** The results of a subscription: to be read one by one, or delivered as they come. */
export class FollowedEvents extends MappedStream<unknown, ExecutionResult> {
  readonly #events: AsyncIterable<unknown>;
  readonly #map: ResultMap;

  constructor(events: AsyncIterable<unknown>, map: ResultMap) {
    super(events[Symbol.asyncIterator](), map);
    this.#events = events;
    this.#map = map;
  }

  /**
   * For a transport that writes results itself. What is left to iterate brings none of them and ends
   * when there are no more; where events cannot be delivered, it brings them as ever.
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
