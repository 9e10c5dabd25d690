import { setImmediate } from 'node:timers/promises';

const SLICE_MS = 4;

/**
 * Splits long work into slices that yield to the event loop, so that a catalog of any size does not block
 * requests. Slices are measured by time, because rows differ in size and machines in speed.
 */
export class Pace {
  #sliceBeganMs = performance.now();

  get isDue(): boolean {
    return performance.now() - this.#sliceBeganMs > SLICE_MS;
  }

  async rest(): Promise<void> {
    await setImmediate();
    this.#sliceBeganMs = performance.now();
  }
}
