import { randomUUID } from 'node:crypto';
import { chmodSync, closeSync, linkSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { networkFileSystem } from './network-file-system.ts';
import { DAMAGED, isBusy, MOVED, SqliteFileError, toFileError } from './sqlite-errors.ts';

export interface SqliteFileOptions {
  readonly path: string;
  /** When true, a missing file is an error and is not created. */
  readonly mustExist?: boolean;
  /** Marks the file as this program's. */
  readonly applicationId: number;
  readonly version: number;
  readonly schema: string;
  /** Fills a new file, whose inode is passed. */
  readonly fill: (database: DatabaseSync, inode: string) => void;
  readonly onWarn: (message: string) => void;
}

const START_PATIENCE_MS = 10_000;
const ROWS_AT_ONCE = 2_000;
const PROGRESS_MS = 1_000;
const SLEEPER = new Int32Array(new SharedArrayBuffer(4));

/**
 * A durable database that several processes of one machine may share. It uses a rollback journal,
 * because damage to a write-ahead log loses commits silently.
 */
export class SqliteFile {
  readonly database: DatabaseSync;
  /** Changes when another file replaces this one at the path. */
  readonly inode: string;
  /** Distinguishes the file from a copy; compared by `isSameFile`. */
  readonly identity: string;
  readonly #path: string;

  /** Creates the file where there is none; throws a SqliteFileError where it cannot be used. */
  constructor(options: SqliteFileOptions) {
    const { path, onWarn } = options;
    this.#path = path;
    using opened = new DisposableStack();
    try {
      if (options.mustExist && inodeOf(path) === null) throw new SqliteFileError('does not exist');
      prepareFolder(dirname(path), onWarn);
      if (inodeOf(path) === null) makeFile(options);
      const { size } = statSync(path);
      // SQLite would treat an empty file as a new database.
      if (size === 0) throw new SqliteFileError('is empty: restore it, or move it away');
      this.inode = inodeOf(path) ?? '';
      this.database = opened.adopt(connect(path, options), (database) => database.close());
      this.#verify(options);
      // Only after the file is identified as this program's: the path may be misconfigured.
      // Always, because it makes the ctime differ from the birth time, which are equal right after a copy.
      chmodSync(path, 0o600);
      this.identity = identityOf(path);
      opened.move();
    } catch (error) {
      throw toFileError(error);
    }
  }

  /** True while the path still leads to the opened file. */
  get isInPlace(): boolean {
    return inodeOf(this.#path) === this.inode;
  }

  /** Runs one statement outside of a transaction. */
  read<T>(statement: () => T): T {
    try {
      return patiently(START_PATIENCE_MS, statement);
    } catch (error) {
      throw toFileError(error);
    }
  }

  /** Iterates all rows of a query that ends in its table's name, in portions, ordered by `id`. */
  *portions<Row extends { readonly id: number }>(
    query: string,
    onProgress: (message: string) => void,
  ): Generator<readonly Row[]> {
    // Pages keep the lock short, or another process's commits would wait for the last row.
    const portion = this.database.prepare(
      // By the row id: an `id` that the query computes would be sorted, all rows for each portion.
      `${query} WHERE id > ? ORDER BY rowid LIMIT ${ROWS_AT_ONCE}`,
    );
    let reportedAtMs = performance.now();
    let lastId = Number.NEGATIVE_INFINITY;
    for (let count = 0; ; count += ROWS_AT_ONCE) {
      const rows = this.read(() => portion.all(lastId)) as unknown as Row[];
      yield rows;
      if (rows.length < ROWS_AT_ONCE) return;
      lastId = rows.at(-1)?.id ?? lastId;
      if (performance.now() - reportedAtMs < PROGRESS_MS) continue;
      reportedAtMs = performance.now();
      onProgress(`${count} rows of ${this.#path} are verified so far`);
    }
  }

  /** Retries `work` while another process holds the lock; throws a SqliteFileError. */
  transact<T>(mode: 'DEFERRED' | 'IMMEDIATE', patienceMs: number, work: () => T): T {
    const { database } = this;
    try {
      return patiently(patienceMs, () => {
        database.exec(`BEGIN ${mode}`);
        try {
          const result = work();
          // COMMIT is retried within the open transaction, or other processes would go first.
          patiently(patienceMs, () => database.exec('COMMIT'));
          // Checked after the commit: a process that opens the path from now on must not miss this commit.
          if (!this.isInPlace) throw new SqliteFileError(MOVED);
          return result;
        } catch (error) {
          if (database.isTransaction) database.exec('ROLLBACK');
          throw error;
        }
      });
    } catch (error) {
      throw toFileError(error);
    }
  }

  close(): void {
    this.database.close();
  }

  /**
   * Leaves it to the caller to compare indexes with their table, in portions: `integrity_check` does so
   * under one lock, which for two million rows keeps other processes from writing for many seconds.
   */
  #verify({ version, schema }: SqliteFileOptions): void {
    if (String(this.#pragma('quick_check')) !== 'ok') {
      throw new SqliteFileError(DAMAGED, { isDamage: true });
    }
    if (Number(this.#pragma('user_version')) !== version) {
      throw new SqliteFileError('is of another version of this program: use that, or move it away');
    }
    using expected = new DatabaseSync(':memory:');
    expected.exec(schema);
    // A flipped bit in the schema can change what a comparison means.
    if (this.read(() => schemaOf(this.database)) !== schemaOf(expected)) {
      throw new SqliteFileError(DAMAGED, { isDamage: true });
    }
  }

  #pragma(pragma: string): unknown[] {
    const rows = this.read(() => this.database.prepare(`PRAGMA ${pragma}`).all());
    return rows.map((row) => Object.values(row)[0]);
  }
}

function schemaOf(database: DatabaseSync): string {
  return JSON.stringify(
    database.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name').all(),
  );
}

function prepareFolder(folder: string, onWarn: (message: string) => void): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const network = networkFileSystem(folder);
  if (network?.isCertain) {
    throw new SqliteFileError(`is on ${network.name}, a network: use a disk of this machine`);
  }
  if (network) onWarn(`${folder} is on ${network.name}: a network's locks cannot be relied on`);
}

/** Creates the file atomically, even across a crash, and never over one that another process has made. */
function makeFile({ path, applicationId, version, schema, fill }: SqliteFileOptions): void {
  const draft = `${path}.new-${randomUUID()}`;
  try {
    closeSync(openSync(draft, 'wx', 0o600));
    const database = connect(draft, null);
    database.exec(`BEGIN; ${schema}; PRAGMA application_id = ${applicationId};
      PRAGMA user_version = ${version}`);
    fill(database, inodeOf(draft) ?? '');
    database.exec('COMMIT');
    database.close();
    linkSync(draft, path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    for (const each of [draft, `${draft}-journal`]) rmSync(each, { force: true });
  }
}

function connect(
  path: string,
  expected: Pick<SqliteFileOptions, 'applicationId'> | null,
): DatabaseSync {
  // SQLite's own busy timeout lets one busy process starve the others.
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    patiently(START_PATIENCE_MS, () => {
      // The file is identified before anything in it is changed.
      const id = database.prepare('PRAGMA application_id').get()?.application_id;
      if (expected && id !== expected.applicationId) {
        throw new SqliteFileError("is no file of this program's: name another, or move it away");
      }
      const mode = database.prepare('PRAGMA journal_mode = TRUNCATE').get()?.journal_mode;
      if (mode !== 'truncate') throw new SqliteFileError(`is in use in the mode ${mode}`);
      database.exec(`PRAGMA synchronous = EXTRA; PRAGMA cell_size_check = ON;
        PRAGMA trusted_schema = OFF`);
    });
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function patiently<T>(patienceMs: number, task: () => T): T {
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

/**
 * Inode and birth time, because the inode of a removed file is reused. Where the file system keeps
 * no birth time, Node answers 0 or the ctime.
 */
function identityOf(path: string): string {
  const { ino, birthtimeNs, ctimeNs } = statSync(path, { bigint: true });
  return `${ino} ${birthtimeNs === ctimeNs ? 0 : birthtimeNs}`;
}

/** Birth times are compared where both are known. */
export function isSameFile(one: string, other: string): boolean {
  const [inode, born = '0'] = one.split(' ');
  const [otherInode, otherBorn = '0'] = other.split(' ');
  return inode === otherInode && (born === otherBorn || born === '0' || otherBorn === '0');
}

function inodeOf(path: string): string | null {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino.toString() ?? null;
}
