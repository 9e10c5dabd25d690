import type { SQLOutputValue } from 'node:sqlite';
import {
  closedBy,
  type OrderRecord,
  type RecordBounds,
  RecordsUnavailableError,
  type Reservation,
  rank,
  recordId,
  toOrderRecord,
} from '../order-records.ts';
import { shareRefusal } from './account-share.ts';
import { ageMs, type MachineClock, machineMoment } from './machine-clock.ts';
import {
  incompleteSince,
  OrderFile,
  type OrderFileOptions,
  rememberedSince,
} from './order-file.ts';
import * as rows from './order-rows.ts';
import type { Task, TaskAnswer, TaskRefusal } from './order-task.ts';
import { scanRows } from './scan-rows.ts';
import { type SqliteFileError, toFileError } from './sqlite-errors.ts';

export type OrderDatabaseOptions = OrderFileOptions & RecordBounds;

// Well within the deadline of an order that waits for its reservation.
const PATIENCE_MS = 2_000;
const READ_PATIENCE_MS = 500;
const FORGOTTEN_AT_ONCE = 10;
/** The `pendingMs` of a record with an outcome that counts for no account: with one nothing is pending. */
const FREED = -1;
const INCOMPLETE = 'the order records may be incomplete (trading-graph orders --help)';

/** The order records in their file. A key whose state cannot be known is refused, never taken for new. */
export class OrderDatabase {
  readonly #options: OrderDatabaseOptions;
  readonly #clock: MachineClock;
  readonly #file: OrderFile;
  readonly #statements: rows.Statements;
  readonly #damagedRows: readonly number[];
  readonly #unindexedKeys: Set<string>;
  readonly #isDamaged: boolean;
  #failure: SqliteFileError | null = null;
  /** All rows up to this id are damaged, and stay. */
  #keptUpTo = Number.NEGATIVE_INFINITY;

  /** Throws a SqliteFileError where the file is damaged, or is none. */
  constructor(options: OrderDatabaseOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#file = new OrderFile(options);
    this.#statements = rows.prepare(this.#file.database);
    const { problems, damagedRows, unindexedKeys, ahead } = scanRows(
      this.#file,
      this.#statements,
      options,
    );
    this.#damagedRows = damagedRows;
    this.#unindexedKeys = unindexedKeys;
    if (ahead.length > 0) this.#countFromNow(ahead);
    this.#isDamaged = problems.length > 0;
    if (this.#isDamaged) {
      const some = problems.slice(0, 10).join(', ');
      options.onWarn(`${options.path} has damaged records, whose keys are refused: ${some}`);
      // Nobody can tell whose keys they were: that may be among what was damaged.
      this.#file.change(() => this.#file.rememberFrom(machineMoment(this.#clock)));
    }
  }

  /** In one transaction: where that fails no answer counts. */
  run(tasks: readonly Task[]) {
    const { path, onWarn } = this.#options;
    const mode = tasks.every((task) => task.do === 'find') ? 'DEFERRED' : 'IMMEDIATE';
    let answers: readonly TaskAnswer[];
    try {
      if (this.#failure?.isDamage) throw this.#failure;
      answers = this.#file.transact(mode, PATIENCE_MS, () => {
        if (mode === 'IMMEDIATE') this.#forgetOld(tasks.length);
        // Only a change shows whether the file can be written again.
        if (mode === 'IMMEDIATE' && this.#failure) this.#file.state.writes += 1;
        return tasks.map((task) => this.#answer(task));
      });
      if (mode === 'IMMEDIATE' && this.#failure) {
        this.#failure = null;
        onWarn(`${path} can be used again`);
      }
    } catch (error) {
      const failure = toFileError(error);
      if (failure.message !== this.#failure?.message) onWarn(`${path} ${failure.message}`);
      this.#failure = failure;
      answers = this.#answersUnwritten(tasks, `the file of the order records ${failure.message}`);
    }
    const { rows: held } = this.#file.state;
    const degradedReason = this.#degradedReason();
    return { answers, held, degradedReason };
  }

  /** Where nothing can be written, the records that can be read answer for their keys. */
  #answersUnwritten(tasks: readonly Task[], refusal: string): readonly TaskAnswer[] {
    const answerOf = (task: Task): TaskAnswer => {
      if (task.do === 'find') return this.#answer(task);
      if (task.do === 'void') return this.#answer({ ...task.request, do: 'find' }) ?? refusal;
      if (task.do !== 'reserve') return refusal;
      return this.#answer({ ...task.reservation, do: 'find' }) ?? { unused: refusal };
    };
    try {
      if (this.#failure?.isDamage) return tasks.map(() => refusal);
      return this.#file.transact('DEFERRED', READ_PATIENCE_MS, () => tasks.map(answerOf));
    } catch {
      return tasks.map(() => refusal);
    }
  }

  /** The operator's mark that records are missing. */
  declareIncomplete(): void {
    this.#file.change(() => {
      this.#file.state.incompleteFrom = JSON.stringify(machineMoment(this.#clock));
      this.#file.rememberFrom(machineMoment(this.#clock));
    });
  }

  /** The operator's mark that orders whose records are missing or damaged may be sent again. */
  declareComplete(): void {
    this.#file.change(() => {
      // First: a row cannot be taken out of an index that does not have it.
      this.#file.database.exec('REINDEX');
      for (const id of this.#damagedRows) this.#delete(id);
      this.#unindexedKeys.clear();
      this.#keptUpTo = Number.NEGATIVE_INFINITY;
      this.#file.state.incompleteFrom = null;
    });
  }

  /** The operator's word that what an account has counts no more; its keys stay used up. What is pending goes on counting. */
  free(login: string): number {
    let freed = 0;
    this.#file.change(() => {
      for (const { id } of this.#statements.ofAccount.all(login)) {
        const row = this.#byId(id ?? null);
        if (!row?.isIndexed || !rows.isIntact(row) || row.outcome === null || row.pendingMs < 0)
          continue;
        this.#update({ ...row, pendingMs: FREED });
        freed += 1;
      }
    });
    return freed;
  }

  close(): void {
    this.#file.close();
  }

  /** A record dated far ahead would not expire, and would keep all younger ones from expiring. */
  #countFromNow(ids: readonly number[]): void {
    this.#file.change(() => {
      for (const id of ids) {
        const row = this.#byId(id);
        // Its date stays, since it may be the correct one.
        if (row) this.#update({ ...row, ...machineMoment(this.#clock), at: row.at });
      }
    });
  }

  #degradedReason(): string | null {
    if (this.#failure) return `the file of the order records ${this.#failure.message}`;
    if (this.#isIncomplete()) return INCOMPLETE;
    if (this.#file.state.rows >= this.#options.max) return 'all order records are in use';
    return this.#isDamaged ? 'order records are damaged' : null;
  }

  #answer(task: Task): TaskAnswer {
    try {
      if (task.do === 'check') return null;
      if (task.do === 'find') return this.#record(task);
      if (task.do === 'void') return this.#void(task);
      if (task.do === 'reserve') return this.#reserve(task.reservation);
      const row = this.#row(task.reservation);
      if (row?.reservation !== task.reservation.id) return null;
      const { outcome, pendingMs } = rows.toRecord(row, this.#clock);
      if (task.do === 'settle') {
        if (rank(task.outcome) <= rank(outcome)) return null;
        this.#update({ ...row, outcome: JSON.stringify(task.outcome) });
        this.#file.state.writes += 1;
      } else if (pendingMs > 0) {
        // Past its time clients may have received `unknown` for it.
        this.#delete(row.id);
      }
      return null;
    } catch (error) {
      if (!(error instanceof RecordsUnavailableError)) throw error;
      // The outcome of a damaged record has nowhere to go, however often it is retried.
      return task.do === 'settle' || task.do === 'release' ? null : error.message;
    }
  }

  #reserve(reservation: Reservation): TaskAnswer {
    return this.#record(reservation) ?? this.#insert(rows.toContent(reservation, this.#clock));
  }

  /** A key that the file may have lost is closed as well: the outcome tells how far the file remembers. */
  #void({ reservation, request }: Extract<Task, { do: 'void' }>): TaskAnswer {
    const found = this.#row(request);
    if (found && !rows.isOver(found, this.#clock)) return rows.toRecord(found, this.#clock);
    const content = rows.toContent(reservation, this.#clock);
    const outcome = closedBy(request.keyAgeMs, this.#rememberedMs());
    const refusal = this.#insert({ ...content, outcome: JSON.stringify(outcome) });
    return refusal ?? toOrderRecord(reservation, outcome, 0);
  }

  /** Inserts a record whose key has none, or has one that is over. */
  #insert(content: rows.OrderContent): TaskRefusal | null {
    const { max } = this.#options;
    const old = this.#row(content);
    if (old) this.#delete(old.id);
    const { state } = this.#file;
    if (state.rows >= max) return { unused: `all ${max} order records are in use` };
    const refusal = shareRefusal(content, {
      ...{ statements: this.#statements, bounds: this.#options, clock: this.#clock },
      forget: (id) => this.#delete(id),
    });
    if (refusal !== null) return refusal;
    this.#statements.insert.run({ ...content, digest: rows.rowDigest(content) });
    state.rows += 1;
    state.writes += 1;
    return null;
  }

  /** Within a transaction that writes. */
  #rememberedMs(): number {
    const since = rememberedSince(this.#file.state) ?? machineMoment(this.#clock);
    this.#file.rememberFrom(since);
    return ageMs(since, this.#clock);
  }

  #record(of: { login: string; key: string }): OrderRecord | null {
    const row = this.#row(of);
    if (row && !rows.isOver(row, this.#clock)) return rows.toRecord(row, this.#clock);
    if (!row && this.#isIncomplete()) throw new RecordsUnavailableError(INCOMPLETE);
    return null;
  }

  /** Both indexes must lead to one row that fits: an entry alone is left of a record that was damaged. */
  #row(of: { login: string; key: string }): rows.OrderRow | null {
    const [login, key] = rows.wellFormed(of);
    if (this.#unindexedKeys.has(recordId(login, key))) throw new DamagedRecordError();
    const { byKey, byHash } = this.#statements;
    const found = byKey.get(login, key)?.id;
    if (found !== byHash.get(rows.keyHash(login, key))?.id) throw new DamagedRecordError();
    if (found === undefined) return null;
    const row = this.#byId(found);
    if (row?.login !== login || row.key !== key || !rows.isIntact(row)) {
      throw new DamagedRecordError();
    }
    return row;
  }

  #byId(id: SQLOutputValue): rows.OrderRow | undefined {
    return this.#statements.byId.get(id) as unknown as rows.OrderRow | undefined;
  }

  /** The oldest have the lowest ids. Deletes at least as many as may be added, or expired rows would fill the bound. */
  #forgetOld(coming: number): void {
    for (let left = coming + FORGOTTEN_AT_ONCE; left > 0; left -= 1) {
      const oldest = this.#statements.after.get(this.#keptUpTo, 1);
      if (!oldest) return;
      const row = oldest as unknown as rows.OrderRow;
      // Its age cannot be known, and SQLite deletes no row that an index lacks.
      if (!row.isIndexed || !rows.isIntact(row)) this.#keptUpTo = row.id;
      else if (rows.isOver(row, this.#clock)) this.#delete(row.id);
      else return;
    }
  }

  #update(row: rows.OrderRow): void {
    const { id, outcome, pendingMs, boot, uptimeMs } = row;
    const digest = rows.rowDigest(row);
    this.#statements.update.run({ id, outcome, pendingMs, boot, uptimeMs, digest });
  }

  #delete(id: number): void {
    // Another process may have deleted it since it was read.
    this.#file.state.rows -= Number(this.#statements.delete.run(id).changes);
    this.#file.state.writes += 1;
  }

  #isIncomplete(): boolean {
    const since = incompleteSince(this.#file.state);
    return since !== null && !rows.isOver(since, this.#clock);
  }
}

class DamagedRecordError extends RecordsUnavailableError {
  override readonly message = 'the record of this key is damaged';
}
