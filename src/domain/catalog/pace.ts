import { setImmediate } from 'node:timers/promises';

const SLICE_MS = 4;

/**
 * Cuts long work into slices, so that a catalog of any size leaves requests their turn in between.
 * By time, not by count: rows differ in size, and machines in speed.
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
