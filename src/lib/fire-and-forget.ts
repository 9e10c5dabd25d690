import { channel } from 'node:diagnostics_channel';
import type { MaybePromise } from './maybe-promise.ts';

/** The work that nobody waits for, by the names that the log and the metric have. */
export const BACKGROUND_TASKS = [
  'catalog refresh',
  'gateway fit',
  'known keys',
  'live feed',
  'order record',
  'other replicas',
  'redis',
  'response',
  'shared limits',
] as const;

export type BackgroundTask = (typeof BACKGROUND_TASKS)[number];

export interface BackgroundFailure {
  readonly task: BackgroundTask;
  readonly error: unknown;
}

const failures = channel('trading-graph.background-failure');

/** Lets work go on that nobody waits for: where it fails, the service logs and counts it. */
export function fireAndForget(task: BackgroundTask, work: MaybePromise<unknown>): void {
  if (!(work instanceof Promise)) return;
  work.catch((error: unknown) => {
    if (failures.hasSubscribers) failures.publish({ task, error } satisfies BackgroundFailure);
    else process.emitWarning(error instanceof Error ? error : String(error));
  });
}

/** Calls the listener with each failure, until what it returns is called. */
export function onBackgroundFailure(listener: (failure: BackgroundFailure) => void): () => void {
  const onMessage = (message: unknown) => listener(message as BackgroundFailure);
  failures.subscribe(onMessage);
  return () => failures.unsubscribe(onMessage);
}
