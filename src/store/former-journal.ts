import { statSync } from 'node:fs';
import { SqliteFileError } from '../lib/sqlite-errors.ts';
import { RECORD_LIFE_MS } from './order-records.ts';

/** Where earlier versions kept the order records, unless told otherwise. */
export const FORMER_JOURNAL = 'data/orders.journal';

/** Its orders are not in the file of today: whoever starts without them may send one of them again. */
export function assertNoJournal(path: string, nowMs: number): void {
  const journal = statSync(path, { throwIfNoEntry: false });
  if (!journal || nowMs - journal.mtimeMs >= RECORD_LIFE_MS) return;
  const over = new Date(journal.mtimeMs + RECORD_LIFE_MS).toISOString();
  throw new SqliteFileError(
    `does not have the orders of the earlier version's ${path}: start it after ${over}, when they ` +
      'are too old to count, or remove that file if they may be sent again',
  );
}
