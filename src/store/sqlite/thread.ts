import { parentPort, workerData } from 'node:worker_threads';
import { type Batch, OrderBatches } from './order-batches.ts';

/** Runs in a worker thread, so that no other thread waits for the disk. The first answer, to no tasks, means `ready`. */
function serve(port: NonNullable<typeof parentPort>): void {
  const batches = new OrderBatches(workerData);
  port.on('message', (batch: Batch | null) => {
    if (batch !== null) return port.postMessage(batches.run(batch));
    batches.close();
    port.close();
  });
  port.postMessage(batches.answerOf([]));
}

if (parentPort) serve(parentPort);
