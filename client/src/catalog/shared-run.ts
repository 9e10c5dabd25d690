import type { Environment } from '../environment.ts';
import { MAX_MS, withinTime } from '../request/deadline.ts';
import { abortedError } from '../request/failures.ts';

interface Run {
  readonly done: Promise<void>;
  readonly controller: AbortController;
}

/** A task that runs once at a time, however many wait for it, and is aborted when nobody does any more. */
export class SharedRun {
  readonly #environment: Environment;
  readonly #task: (signal: AbortSignal) => Promise<void>;
  #run: Run | null = null;
  #waiting = 0;

  constructor(environment: Environment, task: (signal: AbortSignal) => Promise<void>) {
    this.#environment = environment;
    this.#task = task;
  }

  /** Rejects when the caller's own time is over; the task goes on while others wait for it. */
  async wait(signal?: AbortSignal, timeoutMs: number = MAX_MS): Promise<void> {
    if (signal?.aborted) throw abortedError();
    const run = this.#run ?? this.#start();
    this.#waiting += 1;
    try {
      await withinTime(this.#environment, timeoutMs, signal, (time) => time.race(run.done));
    } catch (error) {
      throw signal?.aborted ? abortedError() : error;
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0 && this.#run === run) this.stop();
    }
  }

  /** Ends what is under way, without an error of its own. */
  stop(): void {
    this.#run?.controller.abort();
    this.#run = null;
  }

  #start(): Run {
    const controller = new AbortController();
    const done = this.#task(controller.signal).finally(() => {
      if (this.#run === run) this.#run = null;
    });
    const run = { done, controller };
    this.#run = run;
    // Where nobody waits any more, its error is nobody's.
    done.catch(() => {});
    return run;
  }
}
