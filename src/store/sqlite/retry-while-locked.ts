import { isBusy } from './sqlite-errors.ts';

export const START_PATIENCE_MS = 10_000;
const SLEEPER = new Int32Array(new SharedArrayBuffer(4));

/** Retries the task while another process holds the lock. It blocks its thread. */
export function retryWhileLocked<T>(patienceMs: number, task: () => T): T {
  const giveUpAtMs = performance.now() + patienceMs;
  for (;;) {
    try {
      return task();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= giveUpAtMs) throw error;
      // Jitter keeps waiting processes from retrying in step.
      Atomics.wait(SLEEPER, 0, 0, 0.3 + 2 * Math.random());
    }
  }
}
