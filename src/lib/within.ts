import type { Clock } from './clock.ts';

/** Waits for a promise for so long; null where it takes longer. */
export function within<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T | null> {
  const { promise: tooLate, resolve } = Promise.withResolvers<null>();
  const cancel = clock.after(ms, () => resolve(null));
  return Promise.race([promise, tooLate]).finally(cancel);
}
