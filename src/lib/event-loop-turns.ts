import { setImmediate } from 'node:timers/promises';

// Short enough that requests hardly wait, long enough that the cost of switching is small.
const SLICE_MS = 5;

/** Divides a long task into slices, one for each turn of the event loop, so that sockets are read and written in between. */
export class Slices {
  #beganAtMs = performance.now();

  get isOver(): boolean {
    return performance.now() - this.#beganAtMs >= SLICE_MS;
  }

  async next(): Promise<void> {
    await setImmediate();
    this.#beganAtMs = performance.now();
  }
}

/** Gives each of many tasks a turn of the event loop of its own, so that sockets are read and written in between. */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  next(): Promise<void> {
    this.#last = this.#last.then(() => setImmediate());
    return this.#last;
  }
}
