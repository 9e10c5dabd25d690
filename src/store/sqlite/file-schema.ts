import type { DatabaseSync } from 'node:sqlite';
import { retryWhileLocked, START_PATIENCE_MS } from './retry-while-locked.ts';
import { SqliteFileError } from './sqlite-errors.ts';

// The letters `TGOR`.
const APPLICATION_ID = 0x54474f52;
const VERSION = 4;

/**
 * `class`: see order-table.ts. `ends` is when the record expires, once it has an outcome. `apart` is the largest known
 * difference of the clocks, in ms. `overdueRead` is 1 once a client has read that the order is overdue.
 */
const SCHEMA = `
CREATE TABLE orders (
  n INTEGER PRIMARY KEY, account TEXT NOT NULL, key TEXT NOT NULL, id TEXT NOT NULL, digest TEXT NOT NULL, reserved REAL NOT NULL,
  pendingUntil REAL NOT NULL, class INTEGER NOT NULL, ends REAL NOT NULL, overdueRead INTEGER NOT NULL DEFAULT 0, asked TEXT, outcome TEXT,
  sent REAL, answered REAL,
  UNIQUE (account, key)
) STRICT;
CREATE INDEX pending ON orders (pendingUntil) WHERE outcome IS NULL;
CREATE INDEX ended ON orders (class, ends) WHERE outcome IS NOT NULL;
CREATE INDEX ofAccount ON orders (account, class);
CREATE TABLE removals (account TEXT PRIMARY KEY, at REAL NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX removed ON removals (at);
CREATE TABLE state (
  one INTEGER PRIMARY KEY CHECK (one = 1), since REAL NOT NULL, accounts TEXT, lostAt REAL, lossUntil REAL, apart REAL NOT NULL DEFAULT 0,
  held INTEGER NOT NULL DEFAULT 0, records INTEGER NOT NULL DEFAULT 0, writes INTEGER NOT NULL DEFAULT 0
) STRICT;
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${VERSION}`;

/**
 * Recognizes the file before changing it, and creates missing tables. Returns whether it had tables of an earlier version,
 * which are dropped: their records count as lost.
 */
export function prepareSchema(database: DatabaseSync, nowMs: number): boolean {
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
    const isOld = updateSchema(database, nowMs);
    retryWhileLocked(START_PATIENCE_MS, () => database.exec('COMMIT'));
    return isOld;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

export function isDamaged(database: DatabaseSync): boolean {
  return pragma(database, 'quick_check') !== 'ok';
}

function updateSchema(database: DatabaseSync, nowMs: number): boolean {
  const version = Number(pragma(database, 'user_version'));
  if (version === VERSION) return false;
  if (version > VERSION) throw new SqliteFileError(LATER_VERSION);
  const tables = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all();
  for (const { name } of tables) database.exec(`DROP TABLE "${String(name)}"`);
  database.exec(SCHEMA);
  const isOld = tables.length > 0;
  const sql = 'INSERT INTO state (one, since, lostAt) VALUES (1, ?, ?)';
  database.prepare(sql).run(nowMs, isOld ? nowMs : null);
  return isOld;
}

const LATER_VERSION = 'was written by a later version of this program: use that, or move it away';

function pragma(database: DatabaseSync, name: string): unknown {
  const row = retryWhileLocked(START_PATIENCE_MS, () => database.prepare(`PRAGMA ${name}`).get());
  return Object.values(row ?? {})[0];
}
