import type { Environment } from '../environment.ts';

/** Resolves after the time, or as soon as the signal is aborted. */
export function pause(
  { after }: Pick<Environment, 'after'>,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const cancel = after(ms, done);
    signal.addEventListener('abort', done);
  });
}
