import type { Clock } from '../../src/lib/clock.ts';

/** A clock that stands still until a test moves it. */
export interface ScriptedClock extends Clock {
  /** Moves time on; due timers run in order, and each effect of one runs before the next. */
  advance(ms: number): Promise<void>;
  /** Moves the date by this much, also back; ages and timers do not change. */
  setDate(byMs: number): void;
  /** The number of timers that are waiting. */
  readonly pending: number;
}

interface Timer {
  readonly dueMs: number;
  readonly task: () => void;
}

/** The maximum of timers in one move, because a timer may set itself again for the same moment. */
const MAX_TIMERS = 100_000;

const MONDAY_NOON = Date.UTC(2026, 0, 5, 12);

export function createScriptedClock(startMs: number = MONDAY_NOON): ScriptedClock {
  let nowMs = startMs;
  let dateAheadMs = 0;
  const timers = new Set<Timer>();

  function earliest(untilMs: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of timers) {
      // Strictly earlier: of two timers that are due together the older one runs first.
      if (timer.dueMs <= untilMs && (first === undefined || timer.dueMs < first.dueMs)) {
        first = timer;
      }
    }
    return first;
  }

  return {
    now: () => nowMs,
    date: () => nowMs + dateAheadMs,
    dateOf: (ms) => ms + dateAheadMs,
    setDate(byMs) {
      dateAheadMs += byMs;
    },
    after(ms, task) {
      const timer = { dueMs: nowMs + Math.max(0, ms), task };
      timers.add(timer);
      return () => {
        timers.delete(timer);
      };
    },
    async advance(ms) {
      const untilMs = nowMs + ms;
      await settle();
      let ran = 0;
      for (let due = earliest(untilMs); due !== undefined; due = earliest(untilMs)) {
        ran += 1;
        if (ran > MAX_TIMERS) throw new Error(`${ran} timers fell due in ${ms} ms: ${due.task}`);
        timers.delete(due);
        nowMs = Math.max(nowMs, due.dueMs);
        due.task();
        await settle();
      }
      nowMs = Math.max(nowMs, untilMs);
      await settle();
    },
    get pending() {
      return timers.size;
    },
  };
}

/** Waits until the effects of a timer have run, in a few rounds because an effect may itself wait for an immediate. */
async function settle(): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
