import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { reasonOf } from '../../lib/reason-of.ts';
import { RecordsUnavailableError } from '../refusals.ts';
import type { Batch, BatchAnswer, OrderBatchesOptions } from './order-batches.ts';

/** Under `node --watch` Node sends messages of its own from the thread, which have no answer. */
export interface ThreadMessage {
  readonly batchAnswer?: BatchAnswer;
}

/** Runs the batches of a file in a separate thread. */
export class BatchThread {
  readonly #worker: Worker;
  #failure: RecordsUnavailableError | null = null;
  /** The first answer means that the thread is ready. */
  #waiting = Promise.withResolvers<BatchAnswer>();

  constructor(workerData: OrderBatchesOptions) {
    this.#worker = new Worker(new URL('./thread.ts', import.meta.url), { workerData });
    this.#worker.on('message', ({ batchAnswer }: ThreadMessage) => {
      if (batchAnswer) this.#waiting.resolve(batchAnswer);
    });
    this.#worker.on('error', (error) => this.#fail(reasonOf(error)));
    this.#worker.on('exit', () => this.#fail('the thread of the order records has ended'));
  }

  /** Rejects if the file cannot be used. */
  opened(): Promise<BatchAnswer> {
    return this.#waiting.promise;
  }

  /** Call this only after the batch before was answered. */
  async run(batch: Batch): Promise<BatchAnswer> {
    if (this.#failure !== null) throw this.#failure;
    this.#waiting = Promise.withResolvers();
    this.#worker.postMessage(batch);
    return this.#waiting.promise;
  }

  async close(): Promise<void> {
    if (this.#failure !== null) return;
    this.#worker.postMessage(null);
    await once(this.#worker, 'exit');
  }

  #fail(reason: string): void {
    this.#failure ??= new RecordsUnavailableError(reason);
    this.#waiting.reject(this.#failure);
  }
}
