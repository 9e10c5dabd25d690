import { randomUUID } from 'node:crypto';
import { closeSync, linkSync, openSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { isBusy, SqliteFileError, toFileError } from './sqlite-errors.ts';

export const START_PATIENCE_MS = 10_000;
const SLEEPER = new Int32Array(new SharedArrayBuffer(4));

/** Creates the file atomically, even across a crash; false where another process has made it meanwhile. */
export function makeFile(
  path: string,
  fill: (database: DatabaseSync, draft: string) => void,
): boolean {
  const draft = `${path}.new-${randomUUID()}`;
  try {
    closeSync(openSync(draft, 'wx', 0o600));
    {
      using database = connect(draft);
      database.exec('BEGIN');
      fill(database, draft);
      database.exec('COMMIT');
    }
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    return false;
  } finally {
    for (const each of [draft, `${draft}-journal`]) rmSync(each, { force: true });
  }
}

/** Opens a database for several processes. Its journal rolls back: a damaged write-ahead log loses commits silently. */
export function connect(path: string, applicationId?: number): DatabaseSync {
  using opening = new DisposableStack();
  // SQLite's own busy timeout lets one busy process starve the others.
  const database = opening.use(new DatabaseSync(path, { timeout: 0 }));
  patiently(START_PATIENCE_MS, () => {
    // The file is identified before anything in it is changed.
    const id = database.prepare('PRAGMA application_id').get()?.application_id;
    if (applicationId !== undefined && id !== applicationId) {
      throw new SqliteFileError("is no file of this program's: name another, or move it away");
    }
    const mode = database.prepare('PRAGMA journal_mode = TRUNCATE').get()?.journal_mode;
    if (mode !== 'truncate') throw new SqliteFileError(`is in use in the mode ${mode}`);
    database.exec(`PRAGMA synchronous = EXTRA; PRAGMA cell_size_check = ON;
      PRAGMA trusted_schema = OFF`);
  });
  opening.move();
  return database;
}

/** Retries `work` while another process holds the lock. */
export function transact<T>(
  database: DatabaseSync,
  mode: 'DEFERRED' | 'IMMEDIATE',
  patienceMs: number,
  work: () => T,
): T {
  return patiently(patienceMs, () => {
    database.exec(`BEGIN ${mode}`);
    try {
      const result = work();
      // COMMIT is retried within the open transaction, or other processes would go first.
      patiently(patienceMs, () => database.exec('COMMIT'));
      return result;
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  });
}

/** Waits for another process, but no longer than that. */
export function waitUntil(isSo: () => boolean, patienceMs: number): void {
  const giveUpAtMs = performance.now() + patienceMs;
  while (!isSo() && performance.now() < giveUpAtMs) Atomics.wait(SLEEPER, 0, 0, 1);
}

/** Runs one statement outside of a transaction; throws a SqliteFileError. */
export function readPatiently<T>(statement: () => T): T {
  try {
    return patiently(START_PATIENCE_MS, statement);
  } catch (error) {
    throw toFileError(error);
  }
}

export function patiently<T>(patienceMs: number, task: () => T): T {
  const giveUpAtMs = performance.now() + patienceMs;
  for (;;) {
    try {
      return task();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= giveUpAtMs) throw error;
      // Jitter keeps waiting processes from retrying in step.
      Atomics.wait(SLEEPER, 0, 0, 0.3 + 2 * Math.random());
    }
  }
}
