import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { createFolder } from './order-files.ts';

const AT_ONCE = 3;
const ROUNDS = 60;
/** About as long as a start takes. */
const APART_MS = 4;

test('processes that begin together take the file that one of them makes for no copy', async () => {
  const workers = Array.from(
    { length: AT_ONCE },
    () => new Worker(new URL('./start-worker.ts', import.meta.url)),
  );
  const reasons: unknown[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    using folder = createFolder();
    const started = workers.map(async (worker, n) => {
      const answered = once(worker, 'message');
      // Each order of the three, and each distance, comes about.
      const afterMs = (((round + 1) * (n + 1)) % AT_ONCE) * (APART_MS / AT_ONCE);
      worker.postMessage({ path: folder.path, afterMs });
      const [reason] = await answered;
      return reason;
    });
    reasons.push(...(await Promise.all(started)));
  }
  await Promise.all(workers.map((worker) => worker.terminate()));
  expect(reasons).toEqual(Array(AT_ONCE * ROUNDS).fill(null));
});
