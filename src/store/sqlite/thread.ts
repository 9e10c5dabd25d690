import { parentPort, workerData } from 'node:worker_threads';
import type { RecordsStatus, RecordsUnavailableError } from '../order-records.ts';
import { type Batch, type BatchAnswer, OrderBatches } from './order-batches.ts';

/** An error keeps neither class nor properties on its way between threads. */
export type Answered =
  | { readonly value: unknown }
  | { readonly refusal: Pick<RecordsUnavailableError, 'name' | 'message'> };

/** `sentMs`: the date by the system's clock; a test's date may be another. */
export interface SentBatch {
  readonly batch: Batch;
  readonly sentMs: number;
}

/** The first batch says that the thread is ready; a refusal says why it is not. */
export type FromThread =
  | {
      readonly kind: 'batch';
      readonly answers: readonly Answered[];
      readonly status: RecordsStatus;
    }
  | { readonly kind: 'refusal' | 'warning'; readonly text: string };

/** The worker thread in which order records wait for the disk, so that no other request does. */
function serve(port: NonNullable<typeof parentPort>): void {
  const say = (message: FromThread) => port.postMessage(message);
  const tell = ({ answers, status }: BatchAnswer) =>
    say({ kind: 'batch', answers: answers.map(toAnswered), status });
  let batches: OrderBatches;
  try {
    batches = new OrderBatches({
      ...workerData,
      onWarn: (text) => say({ kind: 'warning', text }),
    });
  } catch (error) {
    say({ kind: 'refusal', text: error instanceof Error ? error.message : String(error) });
    port.close();
    return;
  }
  port.on('message', (sent: SentBatch | null) => {
    if (sent !== null) {
      const { batch, sentMs } = sent;
      // It may have waited for this thread.
      const nowMs = batch.nowMs + Math.max(0, Date.now() - sentMs);
      return tell(batches.run({ ...batch, nowMs }));
    }
    batches.close();
    port.close();
  });
  tell({ answers: [], status: batches.status });
}

function toAnswered(answer: BatchAnswer['answers'][number]): Answered {
  if ('value' in answer) return answer;
  const { name, message } = answer.error;
  return { refusal: { ...answer.error, name, message } };
}

if (parentPort) serve(parentPort);
