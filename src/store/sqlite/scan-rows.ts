import { recordId } from '../order-records.ts';
import { readPatiently } from './connection.ts';
import type { OrderFileOptions } from './order-file.ts';
import { isFarAhead, isIntact, type OrderRow, type Statements } from './order-rows.ts';

const ROWS_AT_ONCE = 2_000;
const PROGRESS_MS = 1_000;

export type RowScan = ReturnType<typeof createRowScan>;

/** Verifies rows in portions, or another process's commits would wait for the last row, and keeps what it has found. */
export function createRowScan({ after }: Statements, { path, clock, onWarn }: OrderFileOptions) {
  /** Sentences; empty where all is well. */
  const problems: string[] = [];
  const damagedRows: number[] = [];
  /** Keys of intact rows that an index lacks: a row missing from both indexes would look absent. */
  const unindexedKeys = new Set<string>();
  /** Intact rows that are dated so far ahead that their date or the machine's is wrong. */
  const ahead: number[] = [];
  let toldAtMs = performance.now();

  /** Verifies some rows behind an id, as far as they are meant, and returns the last one's: the same id where there is none. */
  function portion(
    afterId: number,
    isMeant = (_row: OrderRow) => true,
    count = ROWS_AT_ONCE,
  ): number {
    const found = readPatiently(() => after.all(afterId, count)) as unknown as OrderRow[];
    const rest = found.findIndex((row) => !isMeant(row));
    const rows = rest === -1 ? found : found.slice(0, rest);
    for (const row of rows) {
      if (!isIntact(row)) {
        damagedRows.push(row.id);
        problems.push(`row ${row.id} does not match its digest`);
      } else if (isFarAhead(row, clock)) ahead.push(row.id);
      if (!row.isIndexed) {
        unindexedKeys.add(recordId(row.account, row.key));
        problems.push(`row ${row.id} is missing from an index`);
      }
    }
    return rows.at(-1)?.id ?? afterId;
  }

  /** Verifies all rows behind an id, as far as they are meant, and returns the last one's. */
  function toEnd(afterId: number, isMeant?: (row: OrderRow) => boolean): number {
    let lastId = afterId;
    for (let id = portion(lastId, isMeant); id !== lastId; id = portion(lastId, isMeant)) {
      lastId = id;
      if (performance.now() - toldAtMs < PROGRESS_MS) continue;
      toldAtMs = performance.now();
      onWarn(`${path} is verified up to row ${lastId}`);
    }
    return lastId;
  }

  return { problems, damagedRows, unindexedKeys, ahead, portion, toEnd };
}
