/** Time is passed in as a value, so that a test can stop and advance it. */
export interface Clock {
  /** Milliseconds that never go back, for ages and pauses. They equal the date until the date is set back. */
  now(): number;
  /** Milliseconds since the epoch. The date can be set back. Compare it with dates of other systems, such as a token's expiry. */
  date(): number;
  /** The date of a time that `now` returned, for a date that is sent to another system. */
  dateOf(ms: number): number;
  /** Runs `task` once after `ms`; the timer never keeps the process alive. Returns a function that cancels it. */
  after(ms: number, task: () => void): () => void;
}

// setTimeout turns a longer delay into 1 ms, so a later deadline takes several timers.
export const MAX_TIMER_MS = 2_147_483_647;

let latestMs = Date.now();
/** The sum of all amounts by which the date has been set back. */
let setBackMs = 0;

/**
 * The date, but when it is set back, time continues from the latest value. With the plain date, timeouts and the lives of
 * cached entries would be longer by that amount.
 */
function latestDate(): number {
  const ms = Date.now() + setBackMs;
  if (ms < latestMs) setBackMs += latestMs - ms;
  else latestMs = ms;
  return latestMs;
}

export const systemClock: Clock = {
  now: latestDate,
  date: () => Date.now(),
  dateOf: (ms) => ms - setBackMs,
  after(ms, task) {
    if (ms > MAX_TIMER_MS) {
      const later = () => {
        cancel = systemClock.after(ms - MAX_TIMER_MS, task);
      };
      let cancel = systemClock.after(MAX_TIMER_MS, later);
      return () => cancel();
    }
    const timer = setTimeout(task, Math.max(0, ms)); // Node warns of a negative delay.
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** A monotonic clock for durations, which ignores changes of the date. It starts at 0 with the process. */
export const steadyClock: Clock = {
  ...systemClock,
  now: () => performance.now(),
  dateOf: (ms) => Date.now() - performance.now() + ms,
};

/**
 * Orders events by a counter, because a wall clock can stand still between two events, or jump back. A process has one, so
 * the times of its calls, refusals and changes can be compared.
 */
export class LogicalClock {
  #last = 0;

  next(): number {
    this.#last += 1;
    return this.#last;
  }
}

/** Resolves after `ms`, or when the signal is aborted. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.after(Math.ceil(ms), end);
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end);
  });
}

/** Waits for a promise; null after `ms`. If the process was paused, a result that arrived in the meantime counts. */
export function within<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T | null> {
  const { promise: tooLate, resolve } = Promise.withResolvers<null>();
  const cancel = clock.after(ms, () => setImmediate(resolve, null));
  return Promise.race([promise, tooLate]).finally(cancel);
}
