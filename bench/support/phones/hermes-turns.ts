import type { Phone } from './phone.ts';

interface Timer {
  readonly id: number;
  readonly atMs: number;
  readonly run: () => void;
}

const SETTLED_MS = 2_000;
/** The only queue of turns that the program has. Its own timers do not wait. */
const queueTurn = setImmediate;

/**
 * An event loop with timers. Nobody waits in it: where nothing is due, its clock goes on to what comes next. With it come the
 * globals that React Native has and the program has not.
 */
export class HermesTurns implements Phone {
  readonly #timers = new Map<number, Timer>();
  #lastId = 0;
  #aheadMs = 0;
  #beganMs = Date.now();
  #longestMs = 0;
  #hasEnded = false;

  constructor() {
    Object.assign(globalThis, {
      setTimeout: (task: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
        this.#lastId += 1;
        const timer = { id: this.#lastId, atMs: this.nowMs() + ms, run: () => task(...args) };
        this.#timers.set(timer.id, timer);
        return timer.id;
      },
      clearTimeout: (id: number) => void this.#timers.delete(id),
      queueMicrotask: (task: () => void) => void Promise.resolve().then(task),
      performance: { now: () => this.nowMs() },
      AbortController: HermesAbortController,
    });
    // Later versions of the engine have it.
    Array.prototype.at ??= function at(index) {
      return this[index < 0 ? this.length + index : index];
    };
    queueTurn(() => this.#turn());
  }

  nowMs(): number {
    return Date.now() + this.#aheadMs;
  }

  turn<T>(value: T): Promise<T> {
    return new Promise((resolve) => void setTimeout(() => resolve(value)));
  }

  async longestStop(task: () => Promise<unknown>): Promise<number> {
    await this.turn(null);
    this.#longestMs = 0;
    await task();
    await new Promise((resolve) => void setTimeout(resolve, SETTLED_MS));
    return this.#longestMs;
  }

  end(): void {
    this.#hasEnded = true;
  }

  /** Microtasks are run between two turns of the program, so that they count for the turn before. */
  #turn(): void {
    if (this.#hasEnded) return;
    this.#longestMs = Math.max(this.#longestMs, this.nowMs() - this.#beganMs);
    let next: Timer | null = null;
    for (const timer of this.#timers.values()) {
      if (next === null || timer.atMs < next.atMs) next = timer;
    }
    if (next !== null) {
      this.#aheadMs += Math.max(0, next.atMs - this.nowMs());
      this.#timers.delete(next.id);
    }
    this.#beganMs = this.nowMs();
    queueTurn(() => this.#turn());
    next?.run();
  }
}

class HermesAbortController {
  readonly #listeners = new Set<() => void>();
  readonly signal = {
    aborted: false,
    addEventListener: (_type: string, listener: () => void) => void this.#listeners.add(listener),
    removeEventListener: (_type: string, listener: () => void) =>
      void this.#listeners.delete(listener),
  };

  abort(): void {
    if (this.signal.aborted) return;
    this.signal.aborted = true;
    for (const listener of [...this.#listeners]) listener();
  }
}
