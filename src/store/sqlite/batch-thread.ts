import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import {
  AccountRecordsFullError,
  RecordsForgottenError,
  RecordsGapError,
  RecordsUnavailableError,
} from '../order-records.ts';
import type { Batch, BatchAnswer, OrderBatchesOptions, TaskAnswer } from './order-batches.ts';
import { SqliteFileError } from './sqlite-errors.ts';
import type { Answered, FromThread, SentBatch } from './thread.ts';

/** Runs the batches of a file in a thread of its own. */
export class BatchThread {
  readonly #options: OrderBatchesOptions;
  readonly #worker: Worker;
  #hasEnded = false;
  /** The first answer says that the thread is ready. */
  #waiting = Promise.withResolvers<BatchAnswer>();

  constructor(options: OrderBatchesOptions) {
    const { path, nowMs, max, maxPerAccount, accounts, onWarn } = options;
    const workerData = { path, nowMs, max, maxPerAccount, accounts };
    this.#options = options;
    this.#worker = new Worker(new URL('./thread.ts', import.meta.url), { workerData });
    this.#worker.on('message', (message: FromThread) => this.#receive(message));
    this.#worker.on('error', (error) => onWarn(`a thread has failed: ${error}`));
    this.#worker.on('exit', () => {
      this.#hasEnded = true;
      this.#waiting.reject(new RecordsUnavailableError(ENDED));
    });
  }

  /** Rejects with a SqliteFileError where the file cannot be used. */
  opened(): Promise<BatchAnswer> {
    return this.#waiting.promise;
  }

  /** Called once the batch before it is answered. */
  async run(batch: Batch): Promise<BatchAnswer> {
    if (this.#hasEnded) throw new RecordsUnavailableError(ENDED);
    this.#waiting = Promise.withResolvers();
    const sent: SentBatch = { batch, sentMs: Date.now() };
    this.#worker.postMessage(sent);
    return this.#waiting.promise;
  }

  async close(): Promise<void> {
    if (this.#hasEnded) return;
    this.#worker.postMessage(null);
    await once(this.#worker, 'exit');
  }

  #receive(message: FromThread): void {
    switch (message.kind) {
      case 'warning':
        this.#options.onWarn(message.text);
        return;
      case 'refusal':
        this.#waiting.reject(new SqliteFileError(message.text));
        return;
      case 'batch': {
        const { answers, status } = message;
        this.#waiting.resolve({ answers: answers.map(toTaskAnswer), status });
      }
    }
  }
}

const ENDED = 'the thread of the order records has ended';

const CLASSES = new Map<string, { readonly prototype: RecordsUnavailableError }>([
  ['RecordsForgottenError', RecordsForgottenError],
  ['RecordsGapError', RecordsGapError],
  ['AccountRecordsFullError', AccountRecordsFullError],
]);

/** The error as it was thrown in the thread, with a stack of this one. */
function toTaskAnswer(answer: Answered): TaskAnswer {
  if ('value' in answer) return answer;
  const { name, ...properties } = answer.refusal;
  const { prototype } = CLASSES.get(name) ?? RecordsUnavailableError;
  const error: RecordsUnavailableError = Object.create(prototype);
  Error.captureStackTrace(error, toTaskAnswer);
  return { error: Object.assign(error, { name, ...properties }) };
}
