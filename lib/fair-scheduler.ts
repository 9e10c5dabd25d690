import type { MaybePromise } from './maybe-promise.ts';

type Task = () => void;

// Short enough that other requests hardly wait, long enough that the switch costs little in comparison.
const SLICE_MS = 5;
// Each holds the part of its answer that is made already: a hundred at a time would fill the memory.
const CONCURRENT_PER_CLIENT = 2;

/** The long work of one client. */
interface Share {
  running: number;
  readonly waiting: Task[];
}

/**
 * Divides long synchronous work into slices, one in each turn of the event loop, so that socket I/O
 * runs in between. Clients are served round-robin: one with a hundred slices delays another's first
 * by one slice only.
 */
export class FairScheduler {
  // A Map keeps the order of insertion: the first key is the one that has waited longest.
  readonly #queues = new Map<string, Task[]>();
  readonly #shares = new Map<string, Share>();
  readonly #sliceMs: number;
  #turnBeganAtMs: number | null = null;

  constructor(sliceMs = SLICE_MS) {
    this.#sliceMs = sliceMs;
  }

  /** True when the current turn of the event loop has used up its slice, for any client. */
  isSliceOver(): boolean {
    const nowMs = performance.now();
    if (this.#turnBeganAtMs === null) {
      this.#turnBeganAtMs = nowMs;
      if (this.#queues.size === 0) setImmediate(() => this.#endTurn());
      return false;
    }
    return nowMs - this.#turnBeganAtMs >= this.#sliceMs;
  }

  /** Runs the task in a turn of its own, after those of other clients that have waited longer. */
  later(client: string, task: Task): void {
    // The next turn is planned for as long as anybody waits.
    if (this.#queues.size === 0) setImmediate(() => this.#runNext());
    const queue = this.#queues.get(client);
    if (queue) queue.push(task);
    else this.#queues.set(client, [task]);
  }

  /** Resolves in a turn in which the caller may work for one slice. */
  turn(client: string): Promise<void> {
    return new Promise((resolve) => this.later(client, resolve));
  }

  /** Begins long work in a turn of its own, only a few pieces of a client's at a time. */
  async run<T>(client: string, work: () => MaybePromise<T>): Promise<T> {
    await this.#enter(client);
    try {
      await this.turn(client);
      return await work();
    } finally {
      this.#leave(client);
    }
  }

  #enter(client: string): Promise<void> | null {
    const share = this.#shares.get(client) ?? { running: 0, waiting: [] };
    this.#shares.set(client, share);
    if (share.running < CONCURRENT_PER_CLIENT) {
      share.running += 1;
      return null;
    }
    return new Promise((resolve) => share.waiting.push(resolve));
  }

  /** The next in the queue takes the place over. */
  #leave(client: string): void {
    const share = this.#shares.get(client) as Share;
    const next = share.waiting.shift();
    if (next) next();
    else share.running -= 1;
    if (share.running === 0) this.#shares.delete(client);
  }

  #runNext(): void {
    const [next] = this.#queues;
    const [client, queue] = next as [string, Task[]];
    const task = queue.shift() as Task;
    this.#queues.delete(client);
    if (queue.length > 0) this.#queues.set(client, queue);
    if (this.#queues.size > 0) setImmediate(() => this.#runNext());
    this.#turnBeganAtMs = performance.now();
    setImmediate(() => this.#endTurn());
    task();
  }

  #endTurn(): void {
    this.#turnBeganAtMs = null;
  }
}
