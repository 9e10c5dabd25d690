import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import { backup, DatabaseSync, type StatementSync } from 'node:sqlite';
import { type Mark, OrderMark } from './order-mark.ts';
import { DAMAGED, isBusy, MOVED, SqliteFileError, toFileError } from './sqlite-errors.ts';

interface OrderFileOptions {
  /** `:memory:` is a store that ends with its process. */
  readonly path: string;
  /** When true, a missing file is an error and is not created. */
  readonly mustExist?: boolean;
  /** When true, the pages are checked, for which a large file is read whole. */
  readonly isVerified?: boolean;
  /** The date. */
  readonly now?: () => number;
  readonly onWarn: (message: string) => void;
}

/** The one row of the table `state`. */
interface FileState {
  /** When it was created. */
  readonly since: number;
  /** The settings that named the accounts of its newest record. */
  accounts: string | null;
  /** When the newest loss was found. */
  lostAt: number | null;
  /** R of the newest loss; null until the gateway's clock was measured. */
  lossUntil: number | null;
  /** The furthest that a process which took orders was from the gateway's clock. */
  apart: number;
  held: 0 | 1;
  records: number;
  /** Counts the transactions that wrote. */
  writes: number;
}

// `TGOR`.
const APPLICATION_ID = 0x54474f52;
const VERSION = 3;

/** `class`: see order-table.ts. `ends` counts once there is an outcome; `told` is 1 once a client has read that the order is overdue. */
const SCHEMA = `
CREATE TABLE orders (
  n INTEGER PRIMARY KEY, account TEXT NOT NULL, key TEXT NOT NULL, id TEXT NOT NULL, digest TEXT NOT NULL, reserved REAL NOT NULL,
  pendingUntil REAL NOT NULL, class INTEGER NOT NULL, ends REAL NOT NULL, told INTEGER NOT NULL DEFAULT 0, asked TEXT, outcome TEXT,
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

/** Well within the deadline of an order that waits for its reservation. */
const PATIENCE_MS = 2_000;
const READ_PATIENCE_MS = 500;
const START_PATIENCE_MS = 10_000;
const SLEEPER = new Int32Array(new SharedArrayBuffer(4));

type Mode = 'DEFERRED' | 'IMMEDIATE';

/** The SQLite file of the order records, which processes of one machine share. It detects at each opening, and in use, that it lacks writes. */
export class OrderFile {
  readonly path: string;
  readonly #now: () => number;
  readonly #onWarn: (message: string) => void;
  readonly #database: DatabaseSync;
  /** Null in memory. */
  readonly #inode: string | null;
  readonly #mark: OrderMark | null;
  readonly #statements = new Map<string, StatementSync>();
  #state: FileState;
  /** The most writes that this process has seen in it, or in its mark. */
  #mostWrites = 0;

  /** Throws a SqliteFileError where the file cannot be used. */
  constructor(options: OrderFileOptions) {
    const { path, mustExist = false, isVerified = false, now = Date.now, onWarn } = options;
    this.path = path;
    this.#now = now;
    this.#onWarn = onWarn;
    const isFile = path !== ':memory:';
    using opened = new DisposableStack();
    try {
      if (isFile) {
        if (mustExist && !existsSync(path)) throw new SqliteFileError('does not exist');
        // SQLite would make a file that others may read.
        closeSync(openSync(path, 'a', 0o600));
      }
      // SQLite's own busy timeout lets one busy process starve the others.
      this.#database = opened.adopt(new DatabaseSync(path, { timeout: 0 }), (each) => each.close());
      this.#prepare(isFile, isVerified);
      this.#mark = isFile ? opened.adopt(new OrderMark(path), (each) => each.close()) : null;
      this.#inode = isFile ? inodeOf(path) : null;
      this.#state = patiently(START_PATIENCE_MS, () => this.#readState());
      this.#transact('IMMEDIATE', START_PATIENCE_MS, () => this.#compareWithMark());
    } catch (error) {
      throw toFileError(error);
    }
    opened.move();
  }

  /** As of the last transaction; within a change it may be changed. */
  get state(): FileState {
    return this.#state;
  }

  /** Runs the work in a transaction that reads. Null where it has to be a change, since the file lacks writes. */
  read<T>(work: () => T): T | null {
    return this.#transact('DEFERRED', READ_PATIENCE_MS, () =>
      this.#state.writes < this.#mostWrites ? null : work(),
    );
  }

  /** Runs the work in a transaction that counts itself. Where it throws, nothing of it was written. */
  change<T>(work: () => T): T {
    return this.#transact('IMMEDIATE', PATIENCE_MS, work);
  }

  /** Within a change: from now on an unknown key is refused, unless it was made later. */
  lose(): void {
    this.#state.lostAt = this.#now();
    this.#state.lossUntil = null;
    // The count goes on from the date, in microseconds: every copy from before the loss has fewer.
    this.#state.writes = Math.max(this.#state.writes, 1_000 * Date.now());
  }

  statement(sql: string): StatementSync {
    const known = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, known);
    return known;
  }

  /** A copy as of one moment, while the file is in use. */
  async copyTo(path: string): Promise<void> {
    if (existsSync(path)) throw new SqliteFileError(`is not copied: ${path} exists already`);
    try {
      closeSync(openSync(path, 'wx', 0o600));
      await backup(this.#database, path);
    } catch (error) {
      throw new SqliteFileError(`is not copied: ${path} ${toFileError(error).message}`);
    }
  }

  close(): void {
    this.#mark?.close();
    this.#database.close();
  }

  /** Recognizes the file before anything in it is changed. */
  #prepare(isFile: boolean, isVerified: boolean): void {
    const id = this.#pragma('application_id');
    const isEmpty = this.#pragma('schema_version') === 0;
    if (id !== APPLICATION_ID && !isEmpty) {
      throw new SqliteFileError("is no file of this program's: name another, or move it away");
    }
    const mode = this.#pragma('journal_mode = TRUNCATE');
    if (isFile && mode !== 'truncate') throw new SqliteFileError(`is in use in the mode ${mode}`);
    this.#database.exec('PRAGMA synchronous = EXTRA');
    if (isVerified && this.#pragma('quick_check') !== 'ok') throw new SqliteFileError(DAMAGED);
    patiently(START_PATIENCE_MS, () => this.#database.exec('BEGIN IMMEDIATE'));
    try {
      const version = this.#pragma('user_version');
      if (Number(version) > VERSION) throw new SqliteFileError(OF_ANOTHER_VERSION);
      if (version !== VERSION) this.#create();
      patiently(START_PATIENCE_MS, () => this.#database.exec('COMMIT'));
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  /** The records of an earlier version are not read: they count as lost. */
  #create(): void {
    const tables = this.#database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      .all();
    for (const { name } of tables) this.#database.exec(`DROP TABLE "${String(name)}"`);
    this.#database.exec(SCHEMA);
    const lostAt = tables.length > 0 ? this.#now() : null;
    this.#database
      .prepare('INSERT INTO state (one, since, lostAt) VALUES (1, ?, ?)')
      .run(this.#now(), lostAt);
    if (lostAt === null) return;
    this.#onWarn(`${this.path} may lack orders: the records of an earlier version are not read`);
  }

  #compareWithMark(): void {
    const { writes } = this.#state;
    const mark = this.#mark?.read() ?? null;
    const inode = this.#inode ?? '';
    // Before the first commit, so that every file which has one had a mark.
    if (mark === null && writes === 0) this.#mark?.write({ writes, inode });
    const loss = this.#mark === null ? null : lossOf(mark, { writes, inode });
    this.#mostWrites = mark?.writes ?? 0;
    if (loss === null) return;
    this.lose();
    this.#onWarn(`${this.path} may lack orders: ${loss}`);
  }

  #transact<T>(mode: Mode, patienceMs: number, work: () => T): T {
    const former = this.#state;
    try {
      const result = patiently(patienceMs, () => {
        this.#database.exec(`BEGIN ${mode}`);
        try {
          this.#state = this.#readState();
          this.#heedMark();
          if (mode === 'IMMEDIATE') this.#noticeOverwriting();
          const done = work();
          if (mode === 'IMMEDIATE') this.#saveState();
          // Retried within the open transaction, or other processes would go first.
          patiently(patienceMs, () => this.#database.exec('COMMIT'));
          return done;
        } catch (error) {
          if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
          throw error;
        }
      });
      // After the commit: a process that opens the path from now on must find this write.
      if (this.#inode !== null && inodeOf(this.path) !== this.#inode) {
        throw new SqliteFileError(MOVED);
      }
      this.#mostWrites = Math.max(this.#mostWrites, this.#state.writes);
      if (mode === 'IMMEDIATE') this.#writeMark();
      return result;
    } catch (error) {
      this.#state = former;
      throw error;
    }
  }

  /** Within a transaction, which keeps others from committing: other processes may have written what a copy lacks. */
  #heedMark(): void {
    // At the opening it is compared as a whole.
    if (this.#mostWrites === 0) return;
    this.#mostWrites = Math.max(this.#mostWrites, this.#mark?.read()?.writes ?? 0);
  }

  #noticeOverwriting(): void {
    if (this.#state.writes >= this.#mostWrites || this.#mostWrites === 0) return;
    this.lose();
    this.#onWarn(`${this.path} may lack orders: an older copy was written over it`);
  }

  #saveState(): void {
    const { since: _, ...state } = this.#state;
    state.writes = Math.max(state.writes, this.#mostWrites) + 1;
    this.#state.writes = state.writes;
    this.statement(`UPDATE state SET accounts = :accounts, lostAt = :lostAt, lossUntil = :lossUntil,
      apart = :apart, held = :held, records = :records, writes = :writes`).run(state);
  }

  #writeMark(): void {
    const { writes } = this.#state;
    try {
      this.#mark?.write({ writes, inode: this.#inode ?? '' });
    } catch {
      // The commit itself is durable, and a mark that lags behind only detects less.
    }
  }

  #readState(): FileState {
    const sql =
      'SELECT since, accounts, lostAt, lossUntil, apart, held, records, writes FROM state';
    return { ...this.statement(sql).get() } as unknown as FileState;
  }

  #pragma(name: string): unknown {
    const row = patiently(START_PATIENCE_MS, () => this.#database.prepare(`PRAGMA ${name}`).get());
    return Object.values(row ?? {})[0];
  }
}

const OF_ANOTHER_VERSION = 'is of a later version of this program: use that, or move it away';

/** Why a file may lack what was once in it; null where it does not. */
function lossOf(mark: Mark | null, now: Mark): string | null {
  if (mark === null) return now.writes > 0 ? 'its mark is missing' : null;
  if (now.writes < mark.writes) {
    return now.writes === 0 ? 'it is new, and there was another' : 'it is an older copy';
  }
  return now.inode === mark.inode ? null : 'it is another file than was left';
}

function inodeOf(path: string): string {
  return String(statSync(path, { bigint: true, throwIfNoEntry: false })?.ino);
}

/** Retries the task while another process holds the lock. */
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
