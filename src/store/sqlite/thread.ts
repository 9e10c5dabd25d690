import { parentPort, workerData } from 'node:worker_threads';
import type { ThreadMessage } from './batch-thread.ts';
import { type Batch, type BatchAnswer, OrderBatches } from './order-batches.ts';

/** Runs in a worker thread, so that no other thread waits for the disk. The first answer, to no tasks, means `ready`. */
function serve(port: NonNullable<typeof parentPort>): void {
  const batches = new OrderBatches(workerData);
  const post = (batchAnswer: BatchAnswer) =>
    port.postMessage({ batchAnswer } satisfies ThreadMessage);
  port.on('message', (batch: Batch | null) => {
    if (batch !== null) return post(batches.run(batch));
    batches.close();
    port.close();
  });
  post(batches.answerOf([]));
}

if (parentPort) serve(parentPort);
