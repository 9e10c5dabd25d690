import type { SqliteFile } from '../lib/sqlite-file.ts';
import { type OrderRow, rowDigest, SELECT_ROWS } from './order-rows.ts';

const ROWS_AT_ONCE = 2_000;
const PROGRESS_MS = 1_000;

/** The numbers of all rows that do not match their digest. */
export function* damagedRows(
  file: SqliteFile,
  onProgress: (message: string) => void,
): Generator<number> {
  // In portions, or another process's orders would have to wait for the last row.
  const portion = file.database.prepare(
    `${SELECT_ROWS} WHERE id > ? ORDER BY id LIMIT ${ROWS_AT_ONCE}`,
  );
  let reportedAtMs = performance.now();
  let lastId = Number.NEGATIVE_INFINITY;
  for (let verified = 0; ; ) {
    const rows = file.read(() => portion.all(lastId)) as unknown as OrderRow[];
    for (const row of rows) if (row.digest !== rowDigest(row)) yield row.id;
    if (rows.length < ROWS_AT_ONCE) return;
    lastId = rows.at(-1)?.id ?? lastId;
    verified += rows.length;
    if (performance.now() - reportedAtMs < PROGRESS_MS) continue;
    reportedAtMs = performance.now();
    onProgress(`${verified} order records are verified so far`);
  }
}
