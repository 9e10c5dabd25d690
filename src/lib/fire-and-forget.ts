import { channel } from 'node:diagnostics_channel';
import type { MaybePromise } from './maybe-promise.ts';

export interface BackgroundFailure {
  /** The name of the work in the log. */
  readonly task: string;
  readonly error: unknown;
}

const failures = channel('trading-graph.background-failure');

/** Drops a promise; if it fails, the service logs the error. */
export function fireAndForget(task: string, work: MaybePromise<unknown>): void {
  if (!(work instanceof Promise)) return;
  work.catch((error: unknown) => {
    if (failures.hasSubscribers) failures.publish({ task, error } satisfies BackgroundFailure);
    else process.emitWarning(error instanceof Error ? error : String(error));
  });
}

/** Calls the listener with each failure. Returns a function that ends this. */
export function onBackgroundFailure(listener: (failure: BackgroundFailure) => void): () => void {
  const onMessage = (message: unknown) => listener(message as BackgroundFailure);
  failures.subscribe(onMessage);
  return () => failures.unsubscribe(onMessage);
}
