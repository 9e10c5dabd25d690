import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** A message from the thread; the first says that it is ready, or why it is not. */
export type FromThread<Result> =
  | { readonly ready: true }
  | { readonly refusal: string }
  | { readonly warning: string }
  | { readonly result: Result };

export interface BatchingThreadOptions<Result> {
  readonly script: URL;
  readonly workerData: unknown;
  readonly onWarn: (message: string) => void;
  readonly onEnd: () => void;
  /** Called with the result of a batch, before its callers are answered. */
  readonly onResult: (result: Result) => void;
}

interface Waiting<Task, Result> {
  readonly task: Task;
  readonly resolve: (answer: readonly [result: Result, index: number]) => void;
  readonly reject: (error: Error) => void;
}

// A longer batch would delay other users of the thread's resource.
const BATCH_TASKS = 200;

/** A worker thread that takes tasks in batches: those queued during one batch form the next. */
export class BatchingThread<Task, Result> {
  readonly #worker: Worker;
  #queue: Waiting<Task, Result>[] = [];
  #underWay: Waiting<Task, Result>[] = [];
  #isClosing = false;
  #isEnded = false;

  private constructor(worker: Worker, { onEnd }: BatchingThreadOptions<Result>) {
    this.#worker = worker;
    worker.on('exit', () => {
      this.#isEnded = true;
      for (const { reject } of [...this.#underWay, ...this.#queue.splice(0)]) reject(ended());
      onEnd();
    });
  }

  /** Rejects with the thread's own message where it cannot start. */
  static start<Task, Result>(
    options: BatchingThreadOptions<Result>,
  ): Promise<BatchingThread<Task, Result>> {
    const { script, workerData, onWarn, onResult } = options;
    const worker = new Worker(script, { workerData });
    const thread = new BatchingThread<Task, Result>(worker, options);
    return new Promise((resolve, reject) => {
      worker.on('message', (message: FromThread<Result>) => {
        if ('ready' in message) return resolve(thread);
        if ('refusal' in message) return reject(new Error(message.refusal));
        if ('warning' in message) return onWarn(message.warning);
        onResult(message.result);
        thread.#answer(message.result);
      });
      worker.on('error', (error) => onWarn(`a thread has failed: ${error}`));
      worker.on('exit', () => reject(ended()));
    });
  }

  /** Resolves with the result of the batch, and the task's index in it. */
  ask(task: Task): Promise<readonly [result: Result, index: number]> {
    return new Promise((resolve, reject) => {
      if (this.#isClosing || this.#isEnded) return reject(ended());
      this.#queue.push({ task, resolve, reject });
      if (this.#underWay.length === 0) this.#post();
    });
  }

  /** Tasks that were queued before are still answered. */
  async close(): Promise<void> {
    if (this.#isEnded) return;
    this.#isClosing = true;
    if (this.#underWay.length === 0) this.#post();
    await once(this.#worker, 'exit');
  }

  #post(): void {
    this.#underWay = this.#queue.splice(0, BATCH_TASKS);
    if (this.#underWay.length > 0) {
      this.#worker.postMessage(this.#underWay.map(({ task }) => task));
    } else if (this.#isClosing) this.#worker.postMessage(null);
  }

  #answer(result: Result): void {
    for (const [index, { resolve }] of this.#underWay.entries()) resolve([result, index]);
    this.#post();
  }
}

function ended(): Error {
  return new Error('the thread has ended');
}
