import {
  type OrderRecord,
  RECORD_LIFE_MS,
  type RecordedOutcome,
  RecordsUnavailableError,
  type Reservation,
  rank,
  recordId,
} from '../order-records.ts';
import { ageMs, type MachineClock, momentOf } from './machine-clock.ts';
import * as rows from './order-rows.ts';
import { prepare, SQL_ENTRIES, type Statements } from './order-statements.ts';
import { type SqliteFileError, toFileError } from './sqlite-errors.ts';
import { type FileState, incompleteSince, TrackedFile } from './tracked-file.ts';

export interface OrderDatabaseOptions {
  readonly path: string;
  readonly mustExist?: boolean;
  readonly max: number;
  /** The most records of one account; left out, an account may have all. */
  readonly maxPerAccount?: number;
  readonly clock: MachineClock;
  readonly onWarn: (message: string) => void;
}

/** Plain data, since it is cloned to the worker thread and back. */
export type Task =
  | { readonly do: 'reserve' | 'release'; readonly reservation: Reservation }
  | { readonly do: 'settle'; readonly reservation: Reservation; readonly outcome: RecordedOutcome }
  | { readonly do: 'find'; readonly login: string; readonly key: string }
  | { readonly do: 'check' };

/** The account has as many records as it may, the oldest of them for so long. */
export interface AccountFull {
  readonly freeInMs: number;
}

/** The record there is, null, or why the task is refused: by a sentence, or for its account alone. */
export type Answer = OrderRecord | null | string | AccountFull;

export interface Batch {
  readonly answers: readonly Answer[];
  readonly held: number;
  /** How many records the accounts of the batch's new reservations have. */
  readonly accounts: readonly (readonly [login: string, held: number])[];
  readonly degradedReason: string | null;
}

// Well within the deadline of an order that waits for its reservation.
const PATIENCE_MS = 2_000;
const FORGOTTEN_AT_ONCE = 10;
const INCOMPLETE = 'the order records may be incomplete (trading-graph orders --help)';

/** The order records in their file. A key whose state cannot be known is refused, never taken for new. */
export class OrderDatabase {
  readonly #options: OrderDatabaseOptions;
  readonly #tracked: TrackedFile;
  readonly #statements: Statements;
  readonly #damagedRows: number[] = [];
  /** Keys of intact rows that an index lacks: a row missing from both indexes would look absent. */
  readonly #unindexedKeys = new Set<string>();
  readonly #problems: readonly string[];
  #failure: SqliteFileError | null = null;
  /** All rows up to this id are damaged, and stay. */
  #keptUpTo = Number.NEGATIVE_INFINITY;

  /** Throws a SqliteFileError where the file is damaged, or is none. */
  constructor(options: OrderDatabaseOptions) {
    const { path, onWarn } = options;
    this.#options = options;
    this.#tracked = new TrackedFile({ ...FILE, ...options });
    const { file } = this.#tracked;
    this.#statements = prepare(file.database);
    const ahead: number[] = [];
    const problems = this.#surplusEntries();
    for (const portion of file.portions<rows.OrderRow>(rows.SELECT_ROWS, onWarn)) {
      for (const row of portion) {
        if (row.digest !== rows.rowDigest(row)) this.#damagedRows.push(row.id);
        if (rows.isFarAhead(row, options.clock)) ahead.push(row.id);
      }
      for (const { id, login, key } of this.#unindexed(portion)) {
        this.#unindexedKeys.add(recordId(login, key));
        problems.push(`row ${id} is missing from an index`);
      }
    }
    problems.push(...this.#damagedRows.map((id) => `row ${id} does not match its digest`));
    if (ahead.length > 0) this.#countFromNow(ahead);
    this.#problems = problems;
    if (this.#problems.length > 0) {
      const some = this.#problems.slice(0, 10).join(', ');
      onWarn(`${path} has damaged records, whose keys are refused: ${some}`);
    }
  }

  /** In one transaction: where that fails no answer counts. */
  run(tasks: readonly Task[]): Batch {
    const { path, onWarn } = this.#options;
    let answers: readonly Answer[];
    let accounts: ReadonlyMap<string, number> = new Map();
    try {
      if (this.#failure?.isDamage) throw this.#failure;
      const mode = tasks.every((task) => task.do === 'find') ? 'DEFERRED' : 'IMMEDIATE';
      answers = this.#tracked.transact(mode, PATIENCE_MS, (state) => {
        if (mode === 'IMMEDIATE') this.#forgetOld(state, tasks.length);
        // Only a change shows whether the file can be written again.
        if (mode === 'IMMEDIATE' && this.#failure) state.writes += 1;
        const held = new Map<string, number>();
        accounts = held;
        return tasks.map((task) => this.#answer(task, state, held));
      });
      if (mode === 'IMMEDIATE' && this.#failure) {
        this.#failure = null;
        onWarn(`${path} can be used again`);
      }
    } catch (error) {
      const failure = toFileError(error);
      if (failure.message !== this.#failure?.message) onWarn(`${path} ${failure.message}`);
      this.#failure = failure;
      answers = tasks.map(() => `the file of the order records ${failure.message}`);
      accounts = new Map();
    }
    return {
      answers,
      held: this.#tracked.state.rows,
      accounts: [...accounts],
      degradedReason: this.#degradedReason(),
    };
  }

  /** The operator's mark that records are missing. */
  declareIncomplete(): void {
    const incompleteFrom = JSON.stringify(momentOf(this.#options.clock));
    this.#tracked.change((state) => void Object.assign(state, { incompleteFrom }));
  }

  /** The operator's mark that orders whose records are missing or damaged may be sent again. */
  declareComplete(): void {
    this.#tracked.change((state) => {
      // First: a row cannot be taken out of an index that does not have it.
      this.#tracked.file.database.exec('REINDEX');
      for (const id of this.#damagedRows) this.#delete({ id }, state);
      this.#unindexedKeys.clear();
      this.#keptUpTo = Number.NEGATIVE_INFINITY;
      state.incompleteFrom = null;
    });
  }

  close(): void {
    this.#tracked.close();
  }

  /** A record dated far ahead would not expire, and would keep all younger ones from expiring. */
  #countFromNow(ids: readonly number[]): void {
    this.#tracked.change(() => {
      for (const id of ids) {
        const row = this.#statements.byId.get(id) as unknown as rows.OrderRow | undefined;
        if (!row || row.digest !== rows.rowDigest(row)) continue;
        const { boot, uptimeMs, digest } = rows.madeNow(row, this.#options.clock);
        this.#statements.countFromNow.run(boot, uptimeMs, digest, id);
      }
    });
  }

  #degradedReason(): string | null {
    if (this.#failure) return `the file of the order records ${this.#failure.message}`;
    if (this.#isIncomplete(this.#tracked.state)) return INCOMPLETE;
    if (this.#tracked.state.rows >= this.#options.max) return 'all order records are in use';
    return this.#problems.length > 0 ? 'order records are damaged' : null;
  }

  #answer(task: Task, state: FileState, accounts: Map<string, number>): Answer {
    try {
      switch (task.do) {
        case 'reserve':
          return this.#reserve(task.reservation, state, accounts);
        case 'settle':
          return this.#settle(task.reservation, task.outcome, state);
        case 'release':
          return this.#release(task.reservation, state);
        case 'find':
          return this.#record(task.login, task.key, state);
        case 'check':
          return null;
      }
    } catch (error) {
      if (!(error instanceof RecordsUnavailableError)) throw error;
      // The outcome of a damaged record has nowhere to go, however often it is retried.
      return task.do === 'settle' || task.do === 'release' ? null : error.message;
    }
  }

  #reserve(
    reservation: Reservation,
    state: FileState,
    accounts: Map<string, number>,
  ): OrderRecord | AccountFull | null {
    const { max, clock } = this.#options;
    const record = this.#record(reservation.login, reservation.key, state);
    if (record) return record;
    const old = this.#row(reservation);
    if (old) this.#delete(old, state);
    if (state.rows >= max) throw new RecordsUnavailableError(`all ${max} order records are in use`);
    const row = rows.toRow(reservation, clock);
    const { held, freeInMs } = this.#makeRoom(row.login, state);
    accounts.set(row.login, held);
    if (freeInMs !== null) return { freeInMs };
    this.#statements.insert.run({ ...row });
    state.rows += 1;
    state.writes += 1;
    return null;
  }

  /** The account's rows are counted themselves: a count kept beside them could drift. */
  #makeRoom(login: string, state: FileState): { held: number; freeInMs: number | null } {
    const { clock, maxPerAccount = Number.POSITIVE_INFINITY } = this.#options;
    const { account, byId } = this.#statements;
    for (let tries = 0; ; tries += 1) {
      const { held, oldest } = account.get(login) as { held: number; oldest: number | null };
      if (held < maxPerAccount) return { held: held + 1, freeInMs: null };
      const row = byId.get(oldest) as unknown as rows.OrderRow | undefined;
      // The age of a damaged row cannot be known; within a day another one's turn comes.
      if (!row || this.#isDamaged(row)) return { held, freeInMs: RECORD_LIFE_MS };
      const freeInMs = Math.max(0, RECORD_LIFE_MS - ageMs(row, clock));
      if (freeInMs > 0 || tries >= FORGOTTEN_AT_ONCE) return { held, freeInMs };
      // Its turn among all accounts' rows may come much later.
      this.#delete(row, state);
    }
  }

  #settle(reservation: Reservation, outcome: RecordedOutcome, state: FileState): null {
    const row = this.#row(reservation);
    if (row?.reservation !== reservation.id) return null;
    if (rank(outcome) <= rank(rows.toRecord(row, this.#options.clock).outcome)) return null;
    const settled = rows.withOutcome(row, outcome);
    this.#statements.settle.run(settled.outcome, settled.digest, settled.id);
    state.writes += 1;
    return null;
  }

  #release(reservation: Reservation, state: FileState): null {
    const row = this.#row(reservation);
    if (row?.reservation !== reservation.id) return null;
    // Past its time clients may have received `unknown` for it.
    if (rows.toRecord(row, this.#options.clock).pendingMs > 0) this.#delete(row, state);
    return null;
  }

  #record(login: string, key: string, state: FileState): OrderRecord | null {
    const { clock } = this.#options;
    const row = this.#row({ login, key });
    if (row && !rows.isOver(row, clock)) return rows.toRecord(row, clock);
    if (!row && this.#isIncomplete(state)) throw new RecordsUnavailableError(INCOMPLETE);
    return null;
  }

  /** Both indexes must lead to one row that fits: an entry alone is left of a record that was damaged. */
  #row(of: { login: string; key: string }): rows.OrderRow | null {
    const [login, key] = rows.wellFormed(of);
    if (this.#unindexedKeys.has(recordId(login, key))) throw new DamagedRecordError();
    const { byKey, byHash, byId } = this.#statements;
    const found = byKey.get(login, key)?.id;
    if (found !== byHash.get(rows.keyHash(login, key))?.id) throw new DamagedRecordError();
    if (found === undefined) return null;
    const row = byId.get(found) as unknown as rows.OrderRow | undefined;
    if (!row || row.login !== login || row.key !== key || row.digest !== rows.rowDigest(row)) {
      throw new DamagedRecordError();
    }
    return row;
  }

  #surplusEntries(): string[] {
    const { file } = this.#tracked;
    const counts = file.read(() => file.database.prepare(SQL_ENTRIES).get()) ?? {};
    const { held, ...entries } = counts;
    return Object.entries(entries)
      .filter(([, count]) => Number(count) > Number(held))
      .map(([index, count]) => `${index} has ${count} entries for ${held} rows`);
  }

  #unindexed(portion: readonly rows.OrderRow[]): readonly rows.OrderRow[] {
    const { file } = this.#tracked;
    const range = [portion[0]?.id ?? 0, portion.at(-1)?.id ?? 0];
    return file.read(() => this.#statements.unindexed.all(...range)) as unknown as rows.OrderRow[];
  }

  #isDamaged(row: rows.OrderRow): boolean {
    try {
      return this.#row(row)?.id !== row.id;
    } catch (error) {
      if (!(error instanceof DamagedRecordError)) throw error;
      return true;
    }
  }

  /** The oldest have the lowest ids. Deletes at least as many as may be added, or expired rows would fill the bound. */
  #forgetOld(state: FileState, coming: number): void {
    for (let left = coming + FORGOTTEN_AT_ONCE; left > 0; left -= 1) {
      const oldest = this.#statements.oldest.get(this.#keptUpTo);
      if (!oldest) return;
      const row = oldest as unknown as rows.OrderRow;
      // Its age cannot be known, and SQLite deletes no row that an index lacks.
      if (this.#isDamaged(row)) this.#keptUpTo = row.id;
      else if (rows.isOver(row, this.#options.clock)) this.#delete(row, state);
      else return;
    }
  }

  #delete({ id }: Pick<rows.OrderRow, 'id'>, state: FileState): void {
    // Another process may have deleted it since it was read.
    state.rows -= Number(this.#statements.delete.run(id).changes);
    state.writes += 1;
  }

  #isIncomplete(state: FileState): boolean {
    const since = incompleteSince(state);
    return since !== null && !rows.isOver(since, this.#options.clock);
  }
}

class DamagedRecordError extends RecordsUnavailableError {
  override readonly message = 'the record of this key is damaged';
}

const FILE = {
  // `TGOR`.
  applicationId: 0x54474f52,
  version: 1,
  schema: rows.SCHEMA,
  count: 'SELECT count(*) FROM orders NOT INDEXED',
};
