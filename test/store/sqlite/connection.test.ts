import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { connect, makeFile } from '../../../src/store/sqlite/connection.ts';
import { createFolder } from './order-files.ts';

const AT_ONCE = 3;
const ROUNDS = 60;
/** About as long as a start takes. */
const APART_MS = 4;

function fillWith(database: DatabaseSync, name: string): void {
  database.exec('CREATE TABLE names (name TEXT)');
  database.prepare('INSERT INTO names VALUES (?)').run(name);
}

function namesIn(path: string) {
  using database = connect(path);
  return database.prepare('SELECT name FROM names').all();
}

test('of two that make the same file one wins, and both have that one', () => {
  using place = createFolder();
  makeFile(place.path, (slow) => {
    makeFile(place.path, (quick) => fillWith(quick, 'quick'));
    fillWith(slow, 'slow');
  });
  expect(namesIn(place.path)).toEqual([{ name: 'quick' }]);
  expect(readdirSync(place.folder).sort()).toEqual(['orders.db']);
});

test('a file that cannot be made leaves nothing behind', () => {
  using place = createFolder();
  const fill = () => {
    throw Object.assign(new Error('no'), { code: 'EIO' });
  };
  expect(() => makeFile(place.path, fill)).toThrow('no');
  expect(readdirSync(place.folder)).toEqual([]);
});

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
