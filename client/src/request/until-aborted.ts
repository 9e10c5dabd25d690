import type { TradingGraphError } from '../errors.ts';
import { abortedError } from './failures.ts';

/** The promise, or a rejection as soon as the signal is aborted. The work behind the promise continues. */
export function untilAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal,
  error: () => TradingGraphError = abortedError,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(error());
    signal.addEventListener('abort', leave);
    if (signal.aborted) leave();
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
