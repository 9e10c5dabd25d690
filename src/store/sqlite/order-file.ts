import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import { backup, DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { Account } from '../../lib/account.ts';
import type { Dates } from '../dates.ts';
import { HELD, type RecordsStatus } from '../order-records.ts';
import { assertVersion, isDamaged, type NewFile, prepareSchema } from './file-schema.ts';
import { OrderMark } from './order-mark.ts';
import {
  DAMAGED,
  MOVED,
  retryWhileLocked,
  SqliteFileError,
  START_PATIENCE_MS,
  toFileError,
} from './sqlite-errors.ts';

interface OrderFileOptions extends NewFile {
  /** `:memory:` is a store that ends with its process. */
  readonly path: string;
  readonly dates: Dates;
  /** When true, a missing file is not created, and the pages are not checked, because a large file takes long to read. */
  readonly isOperator?: boolean;
  readonly onWarn: (message: string) => void;
}

/** The single row of the table `state`. */
interface FileState {
  /** The id of the latest loss of records, or of the creation of the file. */
  readonly loss: string;
  /** Keys that were made until then may have lost their records. Null after a loss until its time is decided. */
  readonly since: number | null;
  /** The latest date by which a key was judged. */
  readonly judged: number;
  /** The settings that named the accounts when its latest record was made. */
  readonly accounts: string | null;
  readonly held: 0 | 1;
  readonly records: number;
  /** Counts the transactions that wrote. */
  readonly writes: number;
}

/** How long a lock is waited for: much shorter than the deadline of an order that waits for its reservation. */
const PATIENCE_MS = 2_000;
const READ_PATIENCE_MS = 500;

/** At run time an account is a string. */
export type SqlValue = SQLInputValue | Account;

/** A `DEFERRED` transaction waits for other writers only if it writes. */
type Mode = 'DEFERRED' | 'IMMEDIATE';

/** The SQLite file of the order records, which processes of one machine share. It detects missing writes. */
export class OrderFile {
  readonly path: string;
  readonly #onWarn: (message: string) => void;
  readonly #database: DatabaseSync;
  /** Null in memory. */
  readonly #inode: string | null;
  /** A second file with the count of writes, by which a loss is detected. Null in memory. */
  readonly #mark: OrderMark | null;
  readonly #statements = new Map<string, StatementSync>();
  #dates: Dates;
  #state: FileState;
  /** Whether the transaction has written. */
  #hasWritten = false;
  /**
   * The state that this process knew before the present transaction. `writes` and `judged` are the highest that it has seen in
   * the file or its mark.
   */
  #known: FileState;
  /** How many losses this process has seen. */
  #losses = 0;
  /** The latest loss that this process has found itself. */
  #foundLoss: string | null = null;

  /** Throws a SqliteFileError if the file cannot be used. */
  constructor({ path, dates, isOperator = false, onWarn, ...newFile }: OrderFileOptions) {
    this.path = path;
    this.#dates = dates;
    this.#onWarn = onWarn;
    const isFile = path !== ':memory:';
    using opened = new DisposableStack();
    try {
      if (isFile) {
        if (isOperator && !existsSync(path)) throw new SqliteFileError('does not exist');
        // Creates a missing file here, because SQLite would make it readable for other users.
        closeSync(openSync(path, 'a', 0o600));
      }
      // SQLite's own busy timeout is off, because it lets one busy process starve the others.
      this.#database = opened.adopt(new DatabaseSync(path, { timeout: 0 }), (each) => each.close());
      prepareSchema(this.#database, newFile);
      if (!isOperator && isDamaged(this.#database)) throw new SqliteFileError(DAMAGED);
      this.#mark = isFile ? opened.adopt(new OrderMark(path), (each) => each.close()) : null;
      this.#inode = isFile ? inodeOf(path) : null;
      this.#state = retryWhileLocked(START_PATIENCE_MS, () => this.#readState());
      this.#known = { ...this.#state, writes: 0, judged: 0, held: 0 };
      this.#transact('IMMEDIATE', START_PATIENCE_MS, () => this.#compareWithMark());
    } catch (error) {
      throw toFileError(error);
    }
    // From here on `close` closes the database and the mark.
    opened.move();
  }

  get dates(): Dates {
    return this.#dates;
  }

  /** The state as of the last transaction. */
  get state(): FileState {
    return this.#state;
  }

  /** The status of the store as of the last transaction. */
  status(unsettled: number, degradedReason: string | null): RecordsStatus {
    const { records: count, held, since: sinceMs } = this.#state;
    const holdReason = held === 1 ? HELD : null;
    return { count, unsettled, degradedReason, sinceMs, losses: this.#losses, holdReason };
  }

  /** Runs the work in a transaction. If it throws a SqliteFileError, nothing was written. */
  change<T>(dates: Dates, work: () => T): T {
    this.#dates = dates;
    return this.#transact('IMMEDIATE', PATIENCE_MS, work);
  }

  /** Like `change`, for work that usually only reads: it waits for a writing process only if it writes. */
  read<T>(dates: Dates, work: () => T): T {
    this.#dates = dates;
    return this.#transact('DEFERRED', READ_PATIENCE_MS, work);
  }

  /** Call this within a transaction. */
  update(state: Partial<FileState>): void {
    this.#state = { ...this.#state, ...state };
    this.#hasWritten = true;
  }

  /** Call this within a transaction. From now on a key without a record is refused, unless the key was made later. */
  noteLoss(): void {
    const { since, judged, writes } = this.#state;
    this.#foundLoss = randomUUID();
    this.update({
      loss: this.#foundLoss,
      since: null,
      // A later loss never ends before an earlier one.
      judged: Math.max(judged, since ?? 0),
      // The count continues from the date in microseconds, so that every copy from before the loss has a lower count.
      writes: Math.max(writes, 1_000 * Date.now()),
    });
  }

  /** Call this within a transaction. Notes that a key is judged by these dates. */
  noteJudged(): void {
    if (this.#dates.judgedMs > this.#state.judged) this.update({ judged: this.#dates.judgedMs });
  }

  /**
   * Decides the end of a loss, never before a key was judged. Only a process that knew of the loss may do so, because it has
   * read its clock after the loss was on the disk. One that learns of it later may have judged keys by a later date.
   */
  #decideSince(): void {
    const { loss, since } = this.#state;
    const known = this.#known;
    const judged = Math.max(this.#state.judged, known.judged);
    if (known.loss !== loss) {
      if (judged > this.#state.judged) this.update({ judged });
      // A loss may have taken the hold.
      if (known.held === 1) this.update({ held: 1 });
      if (since !== null && known.judged > since) this.update({ since: known.judged });
    } else if (since === null && this.#dates.isMeasured) {
      this.update({ since: Math.max(this.#dates.latestMs, judged) });
    }
  }

  all<Row>(sql: string, ...values: SqlValue[]): readonly Row[] {
    return this.#statement(sql).all(...(values as SQLInputValue[])) as unknown as readonly Row[];
  }

  get<Row>(sql: string, ...values: SqlValue[]): Row | null {
    return (this.#statement(sql).get(...(values as SQLInputValue[])) ?? null) as Row | null;
  }

  /** The column `figure` of the statement's row; 0 without a row. */
  figure(sql: string, ...values: SqlValue[]): number {
    return this.get<{ readonly figure: number }>(sql, ...values)?.figure ?? 0;
  }

  /** Call this within a transaction. Returns the number of rows that were written. */
  run(sql: string, ...values: SqlValue[]): number {
    const changes = Number(this.#statement(sql).run(...(values as SQLInputValue[])).changes);
    if (changes > 0) this.#hasWritten = true;
    return changes;
  }

  /** Makes a consistent copy while the file is in use. */
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

  /** Counts a loss, and logs it if this process has not found it itself. */
  #countLoss(): void {
    if (this.#foundLoss !== this.#state.loss) this.#warn('another process or an operator says so');
    this.#losses += 1;
  }

  #compareWithMark(): void {
    const { writes } = this.#state;
    const mark = this.#mark?.read() ?? null;
    this.#known = { ...this.#known, writes: mark?.writes ?? 0 };
    if (writes === 0) {
      // The mark is written before the first commit, so that every file with a commit has had a mark.
      if (mark === null) this.#writeMark();
      // The file gets its first commit now, even without a record.
      this.#hasWritten = true;
    }
    const reason = this.#reasonOfLoss(mark);
    if (reason === null) return;
    this.noteLoss();
    this.#warn(reason);
  }

  /** Why the file may lack earlier records; null if it lacks none. */
  #reasonOfLoss(mark: ReturnType<OrderMark['read']>): string | null {
    const { writes } = this.#state;
    if (this.#mark === null) return null;
    if (mark === null) return writes > 0 ? 'its mark is missing' : null;
    if (writes < mark.writes) {
      return writes === 0 ? 'it is new, but there was another one' : 'it is an older copy';
    }
    return mark.inode === this.#inode ? null : 'it is not the file that was used last';
  }

  #transact<T>(mode: Mode, patienceMs: number, work: () => T): T {
    const former = this.#state;
    try {
      const result = retryWhileLocked(patienceMs, () => this.#attempt(mode, patienceMs, work));
      // A commit to a file that was moved away does not count: a process that opens the path later would not find it.
      if (this.#inode !== null && inodeOf(this.path) !== this.#inode) {
        throw new SqliteFileError(MOVED);
      }
      // A read leaves a loss for the next change, which writes back the hold and the latest date that the loss took.
      const known = mode === 'IMMEDIATE' ? this.#state : this.#known;
      if (this.#known.loss !== known.loss) this.#countLoss();
      this.#known = {
        ...known,
        writes: Math.max(this.#known.writes, this.#state.writes),
        judged: Math.max(this.#known.judged, this.#state.judged),
      };
      if (this.#hasWritten) this.#writeMark();
      return result;
    } catch (error) {
      this.#state = former;
      throw toFileError(error);
    }
  }

  #attempt<T>(mode: Mode, patienceMs: number, work: () => T): T {
    this.#database.exec(`BEGIN ${mode}`);
    try {
      assertVersion(this.get<{ user_version: number }>('PRAGMA user_version')?.user_version ?? 0);
      this.#state = this.#readState();
      this.#hasWritten = false;
      this.#detectOlderCopy();
      if (mode === 'IMMEDIATE') this.#decideSince();
      const result = work();
      if (this.#hasWritten) this.#saveState();
      // Repeats only the commit: after a rollback other processes would get the lock first.
      retryWhileLocked(patienceMs, () => this.#database.exec('COMMIT'));
      return result;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  /** Also reads the mark, because a restored copy may lack writes of other processes that this process has not seen. */
  #detectOlderCopy(): void {
    // No count is known yet: this is the opening, which calls #compareWithMark.
    if (this.#known.writes === 0) return;
    const writes = Math.max(this.#known.writes, this.#mark?.read()?.writes ?? 0);
    this.#known = { ...this.#known, writes };
    if (this.#state.writes >= writes) return;
    this.noteLoss();
    this.#warn('an older copy was written over it');
  }

  #saveState(): void {
    this.update({ writes: Math.max(this.#state.writes, this.#known.writes) + 1 });
    this.#statement(`UPDATE state SET loss = :loss, since = :since, judged = :judged, accounts = :accounts,
      held = :held, records = :records, writes = :writes`).run({ ...this.#state });
  }

  #writeMark(): void {
    try {
      this.#mark?.write({ writes: this.#state.writes, inode: this.#inode ?? '' });
    } catch {
      // The commit itself is durable. An older mark only detects fewer losses.
    }
  }

  #readState(): FileState {
    const row = this.get<FileState>(
      'SELECT loss, since, judged, accounts, held, records, writes FROM state',
    );
    if (row === null) throw new SqliteFileError(DAMAGED);
    return { ...row };
  }

  #statement(sql: string): StatementSync {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  #warn(reason: string): void {
    this.#onWarn(`${this.path} may lack orders: ${reason}`);
  }
}

/** The number of the inode as a text; the text `undefined` if there is no file. */
function inodeOf(path: string): string {
  return String(statSync(path, { bigint: true, throwIfNoEntry: false })?.ino);
}
