import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { Orders } from '../../../src/domain/trading/orders.ts';
import type { SubmitterOptions } from '../../../src/domain/trading/submitter.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { openSqliteOrderRecords } from '../../../src/store/sqlite/order-records.ts';
import { acceptedAs, createTestLog, proofOf, ticketOf, viewerOf } from './order-stage.ts';

/** A row that another connection can read is committed. */
function isCommitted(path: string, key: string): boolean {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  const row = database.prepare('SELECT key FROM orders WHERE key = ?').get(key);
  database.close();
  return row !== undefined;
}

test('an order is recorded in the file before it is sent', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'trading-graph-sent-'));
  const path = join(folder, 'orders.db');
  const log = createTestLog();
  const records = await openSqliteOrderRecords({
    ...{ path, max: 10_000, clock: systemClock },
    onWarn: (message) => log.warn({}, message),
  });
  const missing: string[] = [];
  let sent = 0;
  const gateway: SubmitterOptions['gateway'] = {
    async order(_viewer, { order: { symbol } }) {
      sent += 1;
      if (!isCommitted(path, symbol)) missing.push(symbol);
      return acceptedAs(symbol);
    },
  };
  const orders = new Orders({
    ...{ gateway, records, clock: systemClock, orderTimeoutMs: 1_000, onAccountChanged() {}, log },
  });
  const viewer = viewerOf('token-1');
  const proof = proofOf(viewer);
  for (let round = 0; round < 5; round += 1) {
    await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        orders.place(viewer, proof, ticketOf(`${round}-${n}`, `${round}-${n}`)),
      ),
    );
  }
  expect(sent).toBe(50);
  expect(missing).toEqual([]);
  expect(log.lines).toEqual([]);
  await records.close();
  await rm(folder, { recursive: true });
});
