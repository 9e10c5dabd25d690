import { fireAndForget } from '../fire-and-forget.ts';

/** More microtasks than any chain of promises in the client takes. */
const MICROTASKS = 60;

interface Timer {
  readonly dueMs: number;
  readonly task: () => void;
}

/** The time of a fake client, which the test moves, without timers of the platform. */
export class FakeTime {
  uptimeMs = 0;
  readonly #timers = new Set<Timer>();

  /** Runs the task after this time. A task that is due now runs without a call of `pass`. */
  after(ms: number, task: () => void): () => void {
    const timer = { dueMs: this.uptimeMs + Math.max(0, ms), task };
    this.#timers.add(timer);
    if (ms <= 0) soon(() => this.#run(timer));
    return () => void this.#timers.delete(timer);
  }

  /** Lets this time pass, but no more once the condition holds. Returns whether it holds at the end. */
  async pass(ms: number, isOver: () => boolean = () => false): Promise<boolean> {
    const endMs = this.uptimeMs + ms;
    for (;;) {
      await settled();
      if (isOver()) return true;
      const next = this.#next();
      if (next === undefined || next.dueMs > endMs) break;
      this.uptimeMs = Math.max(this.uptimeMs, next.dueMs);
      this.#run(next);
    }
    this.uptimeMs = Math.max(this.uptimeMs, endMs);
    await settled();
    return isOver();
  }

  /** How many tasks wait. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Drops all waiting tasks, as the end of an app does. */
  clear(): void {
    this.#timers.clear();
  }

  #next(): Timer | undefined {
    // The older of two timers that are due together runs first.
    return [...this.#timers].reduce<Timer | undefined>(
      (first, each) => (first !== undefined && first.dueMs <= each.dueMs ? first : each),
      undefined,
    );
  }

  #run(timer: Timer): void {
    if (this.#timers.delete(timer)) timer.task();
  }
}

/** Runs the task after the current one. It uses a promise, because tests may fake timers and `queueMicrotask`. */
export function soon(task: () => void): void {
  fireAndForget(Promise.resolve().then(task));
}

/** Resolves when no task can continue without time passing. */
export async function settled(): Promise<void> {
  for (let count = 0; count < MICROTASKS; count += 1) await null;
}
