import type { Clock } from '../lib/clock.ts';

/** Timers that end early when the sandbox closes. */
export class Waits {
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();
  #hasEnded = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves to true after the time, and to false if the sandbox closes before. */
  wait(ms: number): Promise<boolean> {
    if (this.#hasEnded) return Promise.resolve(false);
    return new Promise((resolve) => {
      const cancel = this.#clock.after(ms, () => {
        this.#waiting.delete(stop);
        resolve(true);
      });
      const stop = () => {
        cancel();
        resolve(false);
      };
      this.#waiting.add(stop);
    });
  }

  end(): void {
    this.#hasEnded = true;
    for (const stop of this.#waiting) stop();
    this.#waiting.clear();
  }
}
