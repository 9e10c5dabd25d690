import type { PullStream } from '../../../src/lib/pull-stream.ts';
import { iterated } from '../../support/iterated.ts';
import { atMost } from '../../support/steps.ts';

/** Far more events than any test emits. */
const MAX_EVENTS = 10_000;

/** Reads a subscription as fast as it emits, until it ends or the test unsubscribes. */
export class Follower<Event> {
  readonly events: Event[] = [];
  hasEnded = false;
  error: unknown = null;
  readonly #stream: PullStream<Event>;

  constructor(stream: PullStream<Event>) {
    this.#stream = stream;
    void this.#read();
  }

  get last(): Event | undefined {
    return this.events.at(-1);
  }

  async leave(): Promise<void> {
    this.#stream.leave();
  }

  async #read(): Promise<void> {
    try {
      for await (const event of atMost(MAX_EVENTS, iterated(this.#stream))) this.events.push(event);
    } catch (error) {
      this.error = error;
    }
    this.hasEnded = true;
  }
}
