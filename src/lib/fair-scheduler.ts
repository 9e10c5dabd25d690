type Task = () => void;

// Short enough that other requests hardly wait, long enough that the cost of switching is small.
const SLICE_MS = 5;
// Work in progress holds its partial output: a hundred large answers at once would fill the memory.
const MAX_SIZE_PER_SHARE = 500_000;

/** The long work of one client, measured by the sizes of its output in the caller's unit. */
interface Share {
  /** The sum of the sizes of all work in progress. */
  heldSize: number;
  readonly waiting: { readonly size: number; readonly enter: Task }[];
}

/** Divides long work into slices, one per turn of the event loop, so that socket I/O runs in between. Clients alternate. */
export class FairScheduler {
  // A Map keeps the order of insertion: the first key has waited longest.
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
    // While a task waits, the next turn is already planned.
    if (this.#queues.size === 0) setImmediate(() => this.#runNext());
    const queue = this.#queues.get(client);
    if (queue) queue.push(task);
    else this.#queues.set(client, [task]);
  }

  /** Resolves in a turn in which the caller may work for one slice. */
  turn(client: string): Promise<void> {
    return new Promise((resolve) => this.later(client, resolve));
  }

  /** Resolves when the share has room for long work of this size, or is empty. Call `leave` when the work is done. */
  enter(name: string, size: number): Promise<void> {
    const share = this.#shares.get(name) ?? { heldSize: 0, waiting: [] };
    this.#shares.set(name, share);
    return new Promise((enter) => {
      share.waiting.push({ size, enter });
      admitNext(share);
    });
  }

  leave(name: string, size: number): void {
    const share = this.#shares.get(name) as Share;
    share.heldSize -= size;
    admitNext(share);
    if (share.heldSize === 0) this.#shares.delete(name);
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

function admitNext(share: Share): void {
  for (const { size, enter } of [...share.waiting]) {
    // Work that is larger than a whole share begins when the share is empty.
    if (share.heldSize > 0 && share.heldSize + size > MAX_SIZE_PER_SHARE) return;
    share.heldSize += size;
    share.waiting.shift();
    enter();
  }
}
