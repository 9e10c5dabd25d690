import { parentPort } from 'node:worker_threads';
import { openDatabase } from './order-files.ts';

/** Opens each file that it is sent after a moment, and says what its answers would lack. */
parentPort?.on('message', ({ path, afterMs }: { path: string; afterMs: number }) => {
  setTimeout(() => {
    using database = openDatabase(path);
    parentPort?.postMessage(database.run([]).degradedReason);
  }, afterMs);
});
