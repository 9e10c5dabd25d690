import { recordId } from '../order-records.ts';
import type { OrderFile, OrderFileOptions } from './order-file.ts';
import { isFarAhead, isIntact, type OrderRow, type Statements } from './order-rows.ts';

const ROWS_AT_ONCE = 2_000;
const PROGRESS_MS = 1_000;

/** Reads all rows at the start, in portions, or another process's commits would wait for the last row. */
export function scanRows(
  file: OrderFile,
  { after }: Statements,
  { path, clock, onWarn }: OrderFileOptions,
) {
  /** As sentences; empty where all is well. */
  const problems: string[] = [];
  const damagedRows: number[] = [];
  /** Keys of intact rows that an index lacks: a row missing from both indexes would look absent. */
  const unindexedKeys = new Set<string>();
  /** Intact rows that are dated so far ahead that their date or the machine's is wrong. */
  const ahead: number[] = [];
  let toldAtMs = performance.now();
  let lastId = Number.NEGATIVE_INFINITY;
  for (;;) {
    const portion = file.read(() => after.all(lastId, ROWS_AT_ONCE));
    for (const row of portion as unknown as OrderRow[]) {
      lastId = row.id;
      if (!isIntact(row)) {
        damagedRows.push(row.id);
        problems.push(`row ${row.id} does not match its digest`);
      } else if (isFarAhead(row, clock)) ahead.push(row.id);
      if (!row.isIndexed) {
        unindexedKeys.add(recordId(row.login, row.key));
        problems.push(`row ${row.id} is missing from an index`);
      }
    }
    if (portion.length < ROWS_AT_ONCE) break;
    if (performance.now() - toldAtMs < PROGRESS_MS) continue;
    toldAtMs = performance.now();
    onWarn(`${path} is verified up to row ${lastId}`);
  }
  return { problems, damagedRows, unindexedKeys, ahead };
}
