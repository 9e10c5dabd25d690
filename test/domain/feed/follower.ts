import type { EventIterator } from '../../../src/lib/event-iterator.ts';
import { atMost } from '../../support/steps.ts';

/** Far more events than any test emits. */
const MAX_EVENTS = 10_000;

/** Reads a subscription as fast as it emits, until it ends or the test unsubscribes. */
export class Follower<Event> {
  readonly events: Event[] = [];
  hasEnded = false;
  error: unknown = null;
  readonly #stream: EventIterator<Event>;

  constructor(stream: EventIterator<Event>) {
    this.#stream = stream;
    void this.#read();
  }

  get last(): Event | undefined {
    return this.events.at(-1);
  }

  async leave(): Promise<void> {
    await this.#stream.return();
  }

  async #read(): Promise<void> {
    try {
      for await (const event of atMost(MAX_EVENTS, this.#stream)) this.events.push(event);
    } catch (error) {
      this.error = error;
    }
    this.hasEnded = true;
  }
}
