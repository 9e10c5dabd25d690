import { hash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { DAMAGED, SqliteFileError } from './sqlite-errors.ts';

export interface FileState {
  /** The number of changes, incremented by each: a file with fewer is an older copy. */
  writes: number;
  /** The number of rows: a smaller count is a loss. */
  rows: number;
  /**
   * The file's inode and birth time, which a copy does not share; behind them, where earlier versions neither look
   * nor keep it, the moment as JSON since which no row has been lost, with how far clocks have been apart.
   */
  file: string;
  /** The moment, as JSON, at which rows were found to be missing; null where none are. */
  incompleteFrom: string | null;
}

type StoredState = FileState & { readonly digest: string };

// The column is REAL because a damaged integer may be more than JavaScript can read.
export const STATE_SCHEMA = `CREATE TABLE state (
  writes REAL NOT NULL, rows REAL NOT NULL, file TEXT NOT NULL, incompleteFrom TEXT,
  digest TEXT NOT NULL
) STRICT`;
export const STATE = 'SELECT * FROM state';

/** Sets the one row of the state, with its digest. */
export function setState(database: DatabaseSync, state: FileState): void {
  database.exec('DELETE FROM state');
  database
    .prepare('INSERT INTO state VALUES (:writes, :rows, :file, :incompleteFrom, :digest)')
    .run({ ...state, digest: digestOf(state) });
}

/** Throws a SqliteFileError. */
export function readState(database: DatabaseSync): FileState {
  const { digest: _, ...state } = intact(database.prepare(STATE).get());
  return state;
}

/** The state of a row that this program has written. Throws a SqliteFileError. */
export function intact(row: unknown): StoredState {
  const stored = row as StoredState | undefined;
  if (stored === undefined || stored.digest !== digestOf(stored)) {
    throw new SqliteFileError(DAMAGED, { isDamage: true });
  }
  return stored;
}

export function digestOf(state: FileState | undefined): string {
  const { writes, rows, file, incompleteFrom } = state ?? {};
  return hash('sha256', JSON.stringify([writes, rows, file, incompleteFrom]));
}
