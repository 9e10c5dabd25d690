import { statSync } from 'node:fs';
import { SqliteFileError } from '../lib/sqlite-errors.ts';
import { RECORD_LIFE_MS } from './order-records.ts';

/** The default path at which earlier versions kept the order records. */
export const FORMER_JOURNAL = 'data/orders.journal';

/** Its orders are not in the present file: a start without them may send one of them again. */
export function assertNoJournal(path: string, nowMs: number): void {
  const journal = statSync(path, { throwIfNoEntry: false });
  if (!journal || nowMs - journal.mtimeMs >= RECORD_LIFE_MS) return;
  const over = new Date(journal.mtimeMs + RECORD_LIFE_MS).toISOString();
  throw new SqliteFileError(
    `does not have the orders of the earlier version's ${path}: start it after ${over}, when they ` +
      'are too old to count, or remove that file if they may be sent again',
  );
}
