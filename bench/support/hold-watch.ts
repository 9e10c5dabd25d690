import { closeSync, openSync, readSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';

export interface HoldFigures {
  /** Milliseconds of the longest holds of the event loop, the longest first. */
  readonly holdsMs: readonly number[];
  /** Likewise the garbage collector's pauses, which are part of them. */
  readonly pausesMs: readonly number[];
}

const LOOK_EVERY_MS = 1;
const KEPT = 20;

/**
 * Looks at the clock in each turn of the event loop. The time in which its thread was ready, while the kernel
 * ran others, does not count: on a busy machine it would hide what the process itself takes.
 */
export class HoldWatch {
  readonly #queue = new RunQueue();
  readonly #collector = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) this.#pauses.add(duration);
  });
  readonly #pauses = new Longest();
  readonly #holds = new Longest();
  readonly #timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
  #lookedMs = performance.now();
  #waitedMs = this.#queue.waitedMs();

  constructor() {
    this.#collector.observe({ entryTypes: ['gc'] });
  }

  end(): HoldFigures {
    clearInterval(this.#timer);
    this.#collector.disconnect();
    this.#queue.close();
    return { holdsMs: this.#holds.values, pausesMs: this.#pauses.values };
  }

  #look(): void {
    const nowMs = performance.now();
    const waitedMs = this.#queue.waitedMs();
    const elapsedMs = nowMs - this.#lookedMs - LOOK_EVERY_MS;
    this.#holds.add(Math.max(0, elapsedMs - (waitedMs - this.#waitedMs)));
    this.#lookedMs = nowMs;
    this.#waitedMs = waitedMs;
  }
}

class Longest {
  readonly values: number[] = [];

  add(value: number): void {
    if (this.values.length === KEPT && value <= (this.values.at(-1) ?? 0)) return;
    this.values.push(value);
    this.values.sort((a, b) => b - a);
    this.values.length = Math.min(this.values.length, KEPT);
  }
}

/** How long this thread has waited for a core so far; nothing where the kernel does not tell. */
class RunQueue {
  readonly #file = openOrNull('/proc/thread-self/schedstat');
  readonly #text = Buffer.alloc(64);

  waitedMs(): number {
    if (this.#file === null) return 0;
    const length = readSync(this.#file, this.#text, 0, this.#text.length, 0);
    const [, waitedNs] = this.#text.toString('latin1', 0, length).split(' ');
    return Number(waitedNs) / 1e6;
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file);
  }
}

function openOrNull(path: string): number | null {
  try {
    return openSync(path, 'r');
  } catch {
    return null;
  }
}
