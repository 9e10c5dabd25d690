import { setImmediate } from 'node:timers/promises';

/** Gives each of many tasks a turn of the event loop of its own, so that sockets are read and written in between. */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  next(): Promise<void> {
    this.#last = this.#last.then(() => setImmediate());
    return this.#last;
  }
}
