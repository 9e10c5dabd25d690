import { closeSync, existsSync, openSync, readSync } from 'node:fs';

const LOOK_EVERY_MS = 1;
const SCHEDULED = '/proc/thread-self/schedstat';

/**
 * Looks at the clock in each turn of the event loop, for the longest. The time in which its thread was ready, while the kernel
 * ran others, does not count: on a busy machine it would hide what the process itself takes.
 */
export class HoldWatch {
  readonly #queue = new RunQueue();
  readonly #timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
  #longestMs = 0;
  #lookedMs = performance.now();
  #waitedMs = this.#queue.waitedMs();

  /** The longest hold so far, in milliseconds. */
  end(): number {
    clearInterval(this.#timer);
    this.#queue.close();
    return this.#longestMs;
  }

  #look(): void {
    const nowMs = performance.now();
    const waitedMs = this.#queue.waitedMs();
    const elapsedMs = nowMs - this.#lookedMs - LOOK_EVERY_MS;
    this.#longestMs = Math.max(this.#longestMs, elapsedMs - (waitedMs - this.#waitedMs));
    this.#lookedMs = nowMs;
    this.#waitedMs = waitedMs;
  }
}

/** How long this thread has waited for a core so far; nothing where the kernel does not tell. */
class RunQueue {
  readonly #file = existsSync(SCHEDULED) ? openSync(SCHEDULED, 'r') : null;
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
