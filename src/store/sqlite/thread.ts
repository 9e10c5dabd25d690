import { parentPort, workerData } from 'node:worker_threads';
import { type Batch, OrderBatches } from './order-batches.ts';

/** The worker thread in which order records wait for the disk, so that other requests do not. */
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
