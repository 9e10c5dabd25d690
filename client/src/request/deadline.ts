import type { Environment } from '../environment.ts';
import { lateError } from './failures.ts';
import { pause } from './pause.ts';
import { untilAborted } from './until-aborted.ts';

/** A timer that is this late shows that the thread was blocked. Answers that arrived then are read in a grace period. */
const LATE_MS = 500;
const GRACE_MS = 250;
/** The longest timer that platforms have. */
export const MAX_MS: number = 2 ** 31 - 1;

/** The time limit of a task. */
export interface Deadline {
  /** Aborted when the time is over, or the parent's signal is aborted. */
  readonly signal: AbortSignal;
  /** Counts the wall clock too: timers stand still while a phone sleeps, and an order must not be sent hours later. */
  readonly remainingMs: number;
  /** Rejects with a TradingGraphError if the time ends first; a later result is dropped. */
  race<T>(promise: Promise<T>): Promise<T>;
  /** Resolves after this part of the time, or at its end. */
  sleep(ms: number): Promise<void>;
  /** Ends the time at once. */
  end(): void;
}

/** Runs a task with this time limit, or for as long as its parent. */
export async function withinTime<T>(
  environment: Environment,
  ms: number,
  parent: AbortSignal | undefined,
  task: (time: Deadline) => Promise<T>,
): Promise<T> {
  const allowedMs = Math.min(Math.max(ms, 0), MAX_MS);
  const controller = new AbortController();
  const { signal } = controller;
  const end = () => controller.abort();
  const [startedAt, startedUp] = [environment.now(), environment.uptime()];
  const elapsedMs = () => Math.max(environment.now() - startedAt, environment.uptime() - startedUp);
  const expire = () => {
    if (elapsedMs() - allowedMs < LATE_MS) end();
    else cancel = environment.after(GRACE_MS, end);
  };
  // The maximum needs no timer, and React Native warns of timers of minutes.
  let cancel = allowedMs < MAX_MS ? environment.after(allowedMs, expire) : () => {};
  parent?.addEventListener('abort', end);
  if (parent?.aborted) end();
  try {
    return await task({
      signal,
      get remainingMs() {
        return signal.aborted ? 0 : Math.max(0, allowedMs - elapsedMs());
      },
      race: (promise) => untilAborted(promise, signal, () => lateError()),
      sleep: (sleepMs) => pause(environment, sleepMs, signal),
      end,
    });
  } finally {
    cancel();
    parent?.removeEventListener('abort', end);
  }
}
