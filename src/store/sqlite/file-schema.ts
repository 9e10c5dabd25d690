import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { retryWhileLocked, SqliteFileError, START_PATIENCE_MS } from './sqlite-errors.ts';

// The letters `TGOR`.
const APPLICATION_ID = 0x54474f52;
const VERSION = 5;

/**
 * `class`: see record-room.ts. `ends` is when the record expires, once it has an outcome. `overdueRead` is 1 once a client
 * has read that the order is overdue. `state`: see FileState.
 */
const SCHEMA = `
CREATE TABLE orders (
  n INTEGER PRIMARY KEY, account TEXT NOT NULL, key TEXT NOT NULL, id TEXT NOT NULL, digest TEXT NOT NULL, reserved REAL NOT NULL,
  pendingUntil REAL NOT NULL, class INTEGER NOT NULL, ends REAL NOT NULL, overdueRead INTEGER NOT NULL DEFAULT 0, asked TEXT, outcome TEXT,
  UNIQUE (account, key)
) STRICT;
CREATE INDEX pending ON orders (pendingUntil) WHERE outcome IS NULL;
CREATE INDEX ended ON orders (class, ends) WHERE outcome IS NOT NULL;
CREATE INDEX ofAccount ON orders (account, class);
CREATE TABLE removals (account TEXT PRIMARY KEY, at REAL NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX removed ON removals (at);
CREATE TABLE state (
  one INTEGER PRIMARY KEY CHECK (one = 1), loss TEXT NOT NULL, since REAL, judged REAL NOT NULL DEFAULT 0, accounts TEXT,
  held INTEGER NOT NULL DEFAULT 0, records INTEGER NOT NULL DEFAULT 0, writes INTEGER NOT NULL DEFAULT 0
) STRICT;
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${VERSION}`;

/** How a file is made if there is none. */
export interface NewFile {
  /** When true, a new file takes keys of any time. */
  readonly takesOldKeys?: boolean;
}

/** Recognizes the file before changing it, and creates missing tables. */
export function prepareSchema(database: DatabaseSync, options: NewFile): void {
  const isEmpty = pragma(database, 'schema_version') === 0;
  if (!isEmpty && pragma(database, 'application_id') !== APPLICATION_ID) {
    throw new SqliteFileError('belongs to another program: name another file, or move it away');
  }
  const mode = pragma(database, 'journal_mode = TRUNCATE');
  if (mode !== 'truncate' && mode !== 'memory') {
    throw new SqliteFileError(`is in use with the journal mode ${mode}`);
  }
  // A commit survives a power failure only if the deletion of its journal is on the disk as well.
  database.exec('PRAGMA synchronous = EXTRA');
  retryWhileLocked(START_PATIENCE_MS, () => database.exec('BEGIN IMMEDIATE'));
  try {
    createTables(database, options);
    retryWhileLocked(START_PATIENCE_MS, () => database.exec('COMMIT'));
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

export function isDamaged(database: DatabaseSync): boolean {
  return pragma(database, 'quick_check') !== 'ok';
}

/** Throws if another version of the program has written the file, also while it is in use. */
export function assertVersion(version: number): void {
  if (version === VERSION) return;
  throw new SqliteFileError(
    'cannot be used: another version of this program has written it: move it away',
  );
}

function createTables(database: DatabaseSync, { takesOldKeys = false }: NewFile): void {
  if (pragma(database, 'schema_version') !== 0) {
    assertVersion(Number(pragma(database, 'user_version')));
    return;
  }
  database.exec(SCHEMA);
  const sql = 'INSERT INTO state (one, loss, since) VALUES (1, ?, ?)';
  database.prepare(sql).run(randomUUID(), takesOldKeys ? 0 : null);
}

function pragma(database: DatabaseSync, name: string): unknown {
  const row = retryWhileLocked(START_PATIENCE_MS, () => database.prepare(`PRAGMA ${name}`).get());
  return Object.values(row ?? {})[0];
}
