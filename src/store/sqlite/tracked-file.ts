import { hash } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { HighWaterMark } from './high-water-mark.ts';
import { type MachineClock, type Moment, momentOf } from './machine-clock.ts';
import { DAMAGED, SqliteFileError, toFileError } from './sqlite-errors.ts';
import { isSameFile, SqliteFile, type SqliteFileOptions } from './sqlite-file.ts';

export interface TrackedFileOptions extends Omit<SqliteFileOptions, 'fill'> {
  readonly clock: MachineClock;
  /** SQL that counts the rows which the state's `rows` records. */
  readonly count: string;
}

export interface FileState {
  /** The number of changes, incremented by each: a file with fewer is an older copy. */
  writes: number;
  /** The number of rows: a smaller count is a loss. */
  rows: number;
  /** The file's identity, which a copy does not share. */
  file: string;
  /** The moment, as JSON, since which rows may be missing; null where none are. */
  incompleteFrom: string | null;
}

type StoredState = FileState & { readonly digest: string };

// The column is REAL because a damaged integer may be more than JavaScript can read.
const STATE_SCHEMA = `
CREATE TABLE state (
  writes REAL NOT NULL, rows REAL NOT NULL, file TEXT NOT NULL, incompleteFrom TEXT,
  digest TEXT NOT NULL
) STRICT`;
const START_PATIENCE_MS = 10_000;

/** A file that detects lost data: an older copy of itself, or missing rows. */
export class TrackedFile {
  readonly file: SqliteFile;
  readonly #mark: HighWaterMark;
  readonly #get: StatementSync;
  readonly #set: StatementSync;
  #state: FileState = { writes: 0, rows: 0, file: '', incompleteFrom: null };

  /** Throws a SqliteFileError where the file cannot be used. */
  constructor(options: TrackedFileOptions) {
    const { path } = options;
    const schema = `${options.schema};${STATE_SCHEMA}`;
    using opened = new DisposableStack();
    this.file = opened.adopt(new SqliteFile({ ...options, schema, fill }), (file) => file.close());
    try {
      this.#mark = opened.adopt(new HighWaterMark(`${path}.mark`), (mark) => mark.close());
      this.#get = this.file.database.prepare('SELECT * FROM state');
      this.#set = this.file.database.prepare(`UPDATE state SET writes = :writes, rows = :rows,
        file = :file, incompleteFrom = :incompleteFrom, digest = :digest`);
      this.change((state) => this.#begin(state, options));
    } catch (error) {
      throw toFileError(error);
    }
    opened.move();
  }

  /** The state as of the last transaction. */
  get state(): Readonly<FileState> {
    return this.#state;
  }

  transact<T>(
    mode: 'DEFERRED' | 'IMMEDIATE',
    patienceMs: number,
    work: (state: FileState) => T,
  ): T {
    const [state, result] = this.file.transact(mode, patienceMs, () => {
      const row = this.#get.get() as unknown as StoredState | undefined;
      if (row?.digest !== digestOf(row)) throw new SqliteFileError(DAMAGED, { isDamage: true });
      if (row.writes < this.#state.writes) {
        throw new SqliteFileError('was replaced by an older copy: restart', { isDamage: true });
      }
      const { digest: _, ...read } = row;
      const done = work(read);
      if (read.writes > row.writes) this.#set.run({ ...read, digest: digestOf(read) });
      return [read, done];
    });
    if (state.writes > this.#state.writes) this.#mark.write(state.writes);
    this.#state = state;
    return result;
  }

  /** Changes only the state itself. */
  change(work: (state: FileState) => void): void {
    this.transact('IMMEDIATE', START_PATIENCE_MS, (state) => {
      state.writes += 1;
      work(state);
    });
  }

  close(): void {
    this.file.close();
    this.#mark.close();
  }

  /** Makes a first change, which checks that the file is writable and that it is the original. */
  #begin(state: FileState, { path, clock, count, onWarn }: TrackedFileOptions): void {
    const [rows] = Object.values(this.file.database.prepare(count).get() ?? {});
    if (rows !== state.rows) {
      throw new SqliteFileError(`has ${rows} rows of ${state.rows}, so it ${DAMAGED}`);
    }
    const marked = this.#mark.read();
    if (marked >= state.writes || !isSameFile(this.file.identity, state.file)) {
      onWarn(`${path} is a copy, perhaps an older one: what it does not know counts as unknown`);
      state.incompleteFrom = JSON.stringify(momentOf(clock));
    }
    state.file = this.file.identity;
    state.writes = Math.max(marked + 1, state.writes);
  }
}

export function incompleteSince({ incompleteFrom }: FileState): Moment | null {
  return JSON.parse(incompleteFrom ?? 'null');
}

function fill(database: DatabaseSync, file: string): void {
  const state: FileState = { writes: 0, rows: 0, file, incompleteFrom: null };
  database
    .prepare('INSERT INTO state VALUES (:writes, :rows, :file, :incompleteFrom, :digest)')
    .run({ ...state, digest: digestOf(state) });
}

function digestOf(state: FileState | undefined): string {
  const { writes, rows, file, incompleteFrom } = state ?? {};
  return hash('sha256', JSON.stringify([writes, rows, file, incompleteFrom]));
}
