import { existsSync, statSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import type { Account } from '../../../lib/account.ts';
import { rank } from '../order-records.ts';
import { makeFile, readPatiently } from './connection.ts';
import { OF_NO_FILE } from './file-identity.ts';
import { refuseMoved } from './file-place.ts';
import { type FileState, readState, setState } from './file-state.ts';
import { ageMs, type MachineClock } from './machine-clock.ts';
import { APPLICATION_ID, beginFile } from './order-file.ts';
import { isIntact, type OrderRow, prepare, wellFormed } from './order-rows.ts';
import { DAMAGED, SqliteFileError, toFileError } from './sqlite-errors.ts';

/** A portion is read, and reaches the disk, within some milliseconds: an order waits for no more of the copy than that. */
const ROWS_AT_ONCE = 250;

/** The order records in use, which rows are copied from. */
export type Source = ReturnType<typeof openSource>;

/**
 * Copies the order records while they are in use, readable by this user alone, and returns their number. What changes meanwhile may be
 * in it or not, as with every copy: a key that it lacks is refused after it is restored. Throws a SqliteFileError.
 */
export function copyOrderFile(path: string, to: string, onPortion?: () => void): number {
  try {
    using source = openSource(path);
    return makeCopy(source, to, onPortion).rows;
  } catch (error) {
    throw toFileError(error);
  }
}

export function openSource(path: string, readOnly = true) {
  refuseMoved(path);
  if (!existsSync(path)) throw new SqliteFileError('does not exist');
  using opening = new DisposableStack();
  const database = opening.use(new DatabaseSync(path, { readOnly, timeout: 0 }));
  const id = readPatiently(() => database.prepare('PRAGMA application_id').get()?.application_id);
  if (id !== APPLICATION_ID) throw new SqliteFileError("is no file of this program's");
  const { after, byId, byKey } = readPatiently(() => prepare(database));
  const rowOf = (id: SQLInputValue) => byId.get(id) as unknown as OrderRow | undefined;
  const resources = opening.move();
  return {
    exec: (sql: string) => readPatiently(() => database.exec(sql)),
    state: () => readPatiently(() => readState(database)),
    from: (id: number) =>
      readPatiently(() => after.all(id - 1, ROWS_AT_ONCE)) as unknown as OrderRow[],
    byId: (id: number) => readPatiently(() => rowOf(id)),
    find: (account: Account, key: string) =>
      readPatiently(() => rowOf(byKey.get(...wellFormed({ account, key }))?.id ?? null)),
    [Symbol.dispose]: () => resources.dispose(),
  };
}

/** Makes a copy that is known to be one. */
export function makeCopy(source: Source, to: string, onPortion: (() => void) | undefined): RowCopy {
  const journal = `${to}-journal`;
  // SQLite would write what the journal holds into the copy. Both are known before the minutes that a copy takes.
  const inTheWay = statSync(journal, { throwIfNoEntry: false })?.size ? journal : to;
  if (existsSync(inTheWay)) throw existing(inTheWay);
  const rows = new RowCopy(source);
  const state = source.state();
  const fill = (copy: DatabaseSync) => {
    beginFile(copy);
    // A copy that is not whole is thrown away, so nothing is rolled back after a crash.
    copy.exec('COMMIT; PRAGMA journal_mode = MEMORY; BEGIN');
    rows.addNew(copy, () => {
      // Little by little, or the disk would have all of it to write before the next order's record.
      copy.exec('COMMIT; BEGIN');
      onPortion?.();
    });
    setState(copy, { ...state, rows: rows.rows, file: withoutIdentity(state) });
  };
  if (!isMade(to, fill)) throw existing(to);
  return rows;
}

function existing(path: string): SqliteFileError {
  return new SqliteFileError(`is not copied: ${path} exists already`);
}

/** How far the rows of a source have been copied. */
export class RowCopy {
  /** The number of rows in the copy. */
  rows = 0;
  readonly #source: Source;
  /** The rows that may still change or go: those without a final outcome. */
  readonly #open = new Map<number, OrderRow>();

  constructor(source: Source) {
    this.#source = source;
  }

  /** Whether an order may still be on its way. */
  hasPending(clock: MachineClock): boolean {
    const isPending = (row: OrderRow) => row.outcome === null && ageMs(row, clock) < row.pendingMs;
    return [...this.#open.values()].some(isPending);
  }

  /** Copies the rows that have come. */
  addNew(copy: DatabaseSync, onPortion = () => {}): void {
    const lastOf = copy.prepare(
      'SELECT CAST(id AS REAL) AS id, reservation FROM orders ORDER BY rowid DESC LIMIT 1',
    );
    for (let count = ROWS_AT_ONCE; count === ROWS_AT_ONCE; ) {
      const last = lastOf.get() as Pick<OrderRow, 'id' | 'reservation'> | undefined;
      const portion = this.#source.from(last?.id ?? Number.NEGATIVE_INFINITY);
      // The number of a last row that has gone is given again, so what is behind it may have come too.
      if (last && portion[0]?.reservation !== last.reservation) {
        this.#drop(copy, last.id);
        continue;
      }
      this.#put(copy, portion.slice(last ? 1 : 0));
      count = portion.length;
      onPortion();
    }
  }

  /** Copies what has come, changed or gone since the last call. */
  catchUp(copy: DatabaseSync): void {
    for (const [id, former] of [...this.#open]) {
      const row = this.#source.byId(id);
      if (row?.digest === former.digest) continue;
      if (row?.reservation === former.reservation) this.#put(copy, [row]);
      else this.#drop(copy, id);
    }
    this.addNew(copy);
  }

  #drop(copy: DatabaseSync, id: number): void {
    this.#open.delete(id);
    this.rows -= Number(copy.prepare('DELETE FROM orders WHERE id = ?').run(id).changes);
  }

  #put(copy: DatabaseSync, portion: readonly OrderRow[]): void {
    // A key that came free and was taken again since its row was copied has its newer row.
    const replaced = copy.prepare('DELETE FROM orders WHERE id = ? OR keyHash = ?');
    const insert =
      copy.prepare(`INSERT INTO orders VALUES (:id, :account, :key, :keyHash, :reservation,
      :input, :pendingMs, :outcome, :at, :boot, :uptimeMs, :digest)`);
    for (const row of portion) {
      const { isIndexed, ...columns } = row;
      if (!isIndexed || !isIntact(row)) throw new SqliteFileError(DAMAGED);
      this.rows += 1 - Number(replaced.run(row.id, row.keyHash).changes);
      insert.run(columns);
      this.#open.delete(row.id);
      if (rank(JSON.parse(row.outcome ?? 'null')) < 2) this.#open.set(row.id, row);
    }
  }
}

/** False where there is a file already. Any other error than one of the source is about the copy's own place. */
function isMade(to: string, fill: (copy: DatabaseSync) => void): boolean {
  try {
    return makeFile(to, fill);
  } catch (error) {
    if (error instanceof SqliteFileError) throw error;
    throw new SqliteFileError(`is not copied: ${to} ${toFileError(error).message}`);
  }
}

/** The mark of a copy, which keeps how far the records remember. */
export function withoutIdentity({ file }: FileState): string {
  const memory = file.indexOf('{');
  return memory < 0 ? OF_NO_FILE : `${OF_NO_FILE} ${file.slice(memory)}`;
}
