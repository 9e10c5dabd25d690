/** Time as a value that is passed in, so that a test can hold it still and move it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Runs `task` once after `ms`; the answer cancels it. The timer never keeps the process alive. */
  after(ms: number, task: () => void): () => void;
}

// setTimeout turns anything above 2^31-1 into 1 ms, which would make a far deadline fire at once.
const LONGEST_TIMER_MS = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, task) {
    const timer = setTimeout(task, Math.min(ms, LONGEST_TIMER_MS));
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** For how long something takes: it never jumps, whatever becomes of the date. Its zero is the process's start. */
export const steadyClock: Clock = { now: () => performance.now(), after: systemClock.after };
