import type { Clock } from '../lib/clock.ts';

/** Timers that end early when the sandbox closes. */
export interface Waits {
  /** Resolves to false where it ended early. */
  wait(ms: number): Promise<boolean>;
  end(): void;
}

export function createWaits(clock: Clock): Waits {
  const waiting = new Set<() => void>();
  let ended = false;
  return {
    wait(ms) {
      if (ended) return Promise.resolve(false);
      return new Promise((resolve) => {
        const cancel = clock.after(ms, () => {
          waiting.delete(stop);
          resolve(true);
        });
        const stop = () => {
          cancel();
          resolve(false);
        };
        waiting.add(stop);
      });
    },
    end() {
      ended = true;
      for (const stop of waiting) stop();
      waiting.clear();
    },
  };
}
