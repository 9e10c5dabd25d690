import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { makeFile, patiently, START_PATIENCE_MS } from './connection.ts';
import { OF_NO_FILE } from './file-identity.ts';
import { APPLICATION_ID, begunFile, type FileState, readState } from './order-file.ts';
import { isIntact, type OrderRow, prepare } from './order-rows.ts';
import { DAMAGED, SqliteFileError, toFileError } from './sqlite-errors.ts';

/** A portion is read, and reaches the disk, within some milliseconds: an order waits for no more of the copy than that. */
const ROWS_AT_ONCE = 250;

/**
 * Copies the order records while they are in use, readable by this user alone, and returns their number. What changes meanwhile may be
 * in it or not, as with every copy: a key that it lacks is refused after it is restored. Throws a SqliteFileError.
 */
export function copyOrderFile(path: string, to: string, onPortion = () => {}): number {
  if (!existsSync(path)) throw new SqliteFileError('does not exist');
  let rows = 0;
  try {
    using source = new DatabaseSync(path, { readOnly: true, timeout: 0 });
    const read = <T>(statement: () => T) => {
      try {
        return patiently(START_PATIENCE_MS, statement);
      } catch (error) {
        throw toFileError(error);
      }
    };
    const id = read(() => source.prepare('PRAGMA application_id').get()?.application_id);
    if (id !== APPLICATION_ID) throw new SqliteFileError("is no file of this program's");
    const state = read(() => readState(source));
    const { after } = read(() => prepare(source));
    const fill = (copy: DatabaseSync) => {
      const setState = begunFile(copy);
      // A copy that is not whole is thrown away, so nothing is ever rolled back.
      copy.exec('COMMIT; PRAGMA journal_mode = OFF; BEGIN');
      for (let lastId = Number.NEGATIVE_INFINITY; ; ) {
        const portion = read(() => after.all(lastId, ROWS_AT_ONCE)) as unknown as OrderRow[];
        add(copy, portion);
        lastId = portion.at(-1)?.id ?? lastId;
        // Little by little, or the disk would have all of it to write before the next order's record.
        copy.exec('COMMIT; BEGIN');
        onPortion();
        if (portion.length < ROWS_AT_ONCE) break;
      }
      rows = Number(copy.prepare('SELECT count(*) AS rows FROM orders NOT INDEXED').get()?.rows);
      setState({ ...state, rows, file: withoutIdentity(state) });
    };
    if (!isMade(to, fill)) throw new SqliteFileError(`is not copied: ${to} exists already`);
    return rows;
  } catch (error) {
    throw toFileError(error);
  }
}

function add(copy: DatabaseSync, portion: readonly OrderRow[]): void {
  // A key that came free and was taken again since its row was copied has its newer row.
  const insert =
    copy.prepare(`INSERT OR REPLACE INTO orders VALUES (:id, :login, :key, :keyHash, :reservation,
    :input, :pendingMs, :outcome, :at, :boot, :uptimeMs, :digest)`);
  for (const { isIndexed, ...row } of portion) {
    if (!isIndexed || !isIntact({ ...row, isIndexed })) throw new SqliteFileError(DAMAGED);
    insert.run(row);
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

/** Keeps how far the records remember. */
function withoutIdentity({ file }: FileState): string {
  const memory = file.indexOf('{');
  return memory < 0 ? OF_NO_FILE : `${OF_NO_FILE} ${file.slice(memory)}`;
}
