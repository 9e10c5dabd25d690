import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { Orders } from '../../../src/domain/trading/orders.ts';
import type { OrderGateway } from '../../../src/domain/trading/submitter.ts';
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
  const gateway: OrderGateway = {
    async openPosition(_viewer, { symbol }) {
      sent += 1;
      if (!isCommitted(path, symbol)) missing.push(symbol);
      return acceptedAs(symbol);
    },
    placeLimitOrder: () => Promise.reject(new Error('not used here')),
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

test('a repeat at another process waits for the outcome, and sends nothing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'trading-graph-sent-'));
  const answer = Promise.withResolvers<ReturnType<typeof acceptedAs>>();
  let sent = 0;
  const gateway: OrderGateway = {
    openPosition() {
      sent += 1;
      return answer.promise;
    },
    placeLimitOrder: () => Promise.reject(new Error('not used here')),
  };
  const log = createTestLog();
  const open = async () => {
    const options = { path: join(folder, 'orders.db'), max: 100, clock: systemClock };
    const records = await openSqliteOrderRecords({ ...options, onWarn() {} });
    const more = { clock: systemClock, orderTimeoutMs: 30_000, onAccountChanged() {}, log };
    return { records, orders: new Orders({ gateway, records, ...more }) };
  };
  const [one, other] = [await open(), await open()];
  const viewer = viewerOf('token-1');
  const first = one.orders.place(viewer, proofOf(viewer), ticketOf('key'));
  await expect.poll(() => sent).toBe(1);
  await expect(
    other.orders.place(viewer, proofOf(viewer), ticketOf('key', 'MSFT')),
  ).rejects.toThrow('was used for another order');
  const repeat = other.orders.place(viewer, proofOf(viewer), ticketOf('key'));
  const asked = other.orders.placed(proofOf(viewer), 'key');
  answer.resolve(acceptedAs('o-1'));
  const outcome = { outcome: 'accepted', orderId: 'o-1' };
  expect(await first).toMatchObject({ outcome, replayed: false });
  expect(await repeat).toMatchObject({ outcome, replayed: true });
  expect(await asked).toMatchObject({ outcome, replayed: true });
  expect(sent).toBe(1);
  await Promise.all([one.records.close(), other.records.close()]);
  await rm(folder, { recursive: true });
}, 600_000);
