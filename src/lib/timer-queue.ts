import type { Clock } from './clock.ts';

interface Timer {
  readonly dueMs: number;
  /** Of two timers that are due together, the one set first fires first. */
  readonly order: number;
  readonly task: () => void;
  /** The index in the heap; -1 once it has fired or was cancelled. */
  index: number;
}

/**
 * Any number of timers on a single timer of the clock: a heap in which setting, cancelling and
 * firing cost a handful of comparisons, even with tens of thousands of timers.
 */
export function createTimerQueue(clock: Clock): Clock {
  const heap: Timer[] = [];
  let orders = 0;
  let armedForMs = Number.POSITIVE_INFINITY;
  let disarm: (() => void) | null = null;

  function arm(): void {
    const first = heap[0];
    if (first === undefined || first.dueMs >= armedForMs) return;
    disarm?.();
    armedForMs = first.dueMs;
    disarm = clock.after(Math.max(0, first.dueMs - clock.now()), fire);
  }

  function fire(): void {
    disarm = null;
    armedForMs = Number.POSITIVE_INFINITY;
    const nowMs = clock.now();
    // A timer set by a task for this moment fires in the next round, or a task could loop for ever.
    const limit = orders;
    try {
      for (let top = heap[0]; top && top.dueMs <= nowMs && top.order < limit; top = heap[0]) {
        remove(heap, top);
        top.task();
      }
    } finally {
      arm();
    }
  }

  return {
    now: () => clock.now(),
    after(ms, task) {
      const timer: Timer = { dueMs: clock.now() + Math.max(0, ms), order: orders, task, index: -1 };
      orders += 1;
      insert(heap, timer);
      arm();
      return () => remove(heap, timer);
    },
  };
}

function insert(heap: Timer[], timer: Timer): void {
  timer.index = heap.length;
  heap.push(timer);
  rise(heap, timer);
}

function remove(heap: Timer[], timer: Timer): void {
  const { index } = timer;
  if (index === -1) return;
  timer.index = -1;
  const last = heap.pop();
  if (last === undefined || last === timer) return;
  place(heap, last, index);
  rise(heap, last);
  sink(heap, last);
}

function rise(heap: Timer[], timer: Timer): void {
  while (timer.index > 0) {
    const parent = heap[(timer.index - 1) >> 1] as Timer;
    if (!isBefore(timer, parent)) return;
    const { index } = timer;
    place(heap, timer, parent.index);
    place(heap, parent, index);
  }
}

function sink(heap: Timer[], timer: Timer): void {
  for (;;) {
    const left = heap[2 * timer.index + 1];
    if (left === undefined) return;
    const right = heap[2 * timer.index + 2];
    const child = right !== undefined && isBefore(right, left) ? right : left;
    if (!isBefore(child, timer)) return;
    const { index } = timer;
    place(heap, timer, child.index);
    place(heap, child, index);
  }
}

function place(heap: Timer[], timer: Timer, index: number): void {
  heap[index] = timer;
  timer.index = index;
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);
}
