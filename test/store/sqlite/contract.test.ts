import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { OperatorFile } from '../../../src/store/sqlite/sqlite-operator.ts';
import {
  openInlineOrderRecords,
  openSqliteOrderRecords,
} from '../../../src/store/sqlite/sqlite-records.ts';
import { datesBy } from '../../support/dates.ts';
import { eventually } from '../../support/eventually.ts';
import { keyOf } from '../../support/order-keys.ts';
import { temporaryFolder } from '../../support/own-folder.ts';
import { withResources } from '../opened-records.ts';
import { accepted, keyFor, request, reserved } from '../order-records-contract.ts';
import { itIsAStoreOfOrderRecords } from '../store-contract.ts';

const quiet = { clock: systemClock, dates: datesBy(), takesOldKeys: true, onWarn() {} };

describe('order records in a file', () => {
  itIsAStoreOfOrderRecords(
    async (max, maxPerAccount = max) => {
      const folder = await temporaryFolder();
      const path = join(folder.path, 'orders.db');
      const bounds = { max, maxPerAccount };
      return withResources(await openSqliteOrderRecords({ ...quiet, path, ...bounds }), folder);
    },
    async () => {
      const folder = await temporaryFolder();
      const path = join(folder.path, 'orders.db');
      const max = 2_000;
      const maker = await openSqliteOrderRecords({ ...quiet, path, max });
      const other = await openSqliteOrderRecords({ ...quiet, path, max });
      const operator = new OperatorFile({ path, max, onWarn() {} });
      return {
        replicas: [maker, other],
        operator,
        async [Symbol.asyncDispose]() {
          operator.close();
          await maker.close();
          await other.close();
          await folder[Symbol.asyncDispose]();
        },
      };
    },
  );
});

describe('order records in memory', () => {
  itIsAStoreOfOrderRecords(async (max, maxPerAccount = max) => {
    const bounds = { max, maxPerAccount };
    const records = await openSqliteOrderRecords({ ...quiet, path: ':memory:', ...bounds });
    return withResources(records, { async [Symbol.asyncDispose]() {} });
  });
});

test('records in memory are complete from a time that is decided without an order', async () => {
  const options = { ...quiet, path: ':memory:', max: 10, takesOldKeys: false };
  const records = openInlineOrderRecords(options);
  await eventually(() => records.status.sinceMs !== null);
  await records.close();
});

test('an order that was read as overdue stays overdue after the date is set back, and its key is not freed', async () => {
  let aheadMs = 0;
  const clock = { ...systemClock, date: () => Date.now() + aheadMs };
  for (const method of ['find', 'reserve', 'voidKey'] as const) {
    const records = openInlineOrderRecords({
      ...quiet,
      clock,
      dates: datesBy(clock),
      path: ':memory:',
      max: 10,
    });
    const order = await reserved(records, '1', 'k', 60_000);
    // The order is overdue by this date.
    aheadMs = 3_600_000;
    if (method === 'find') await records.find(order.account, keyOf('k'));
    if (method === 'reserve') await records.reserve(request('1', 'k'));
    if (method === 'voidKey') await records.voidKey(keyFor('1', 'k'));
    aheadMs = 0;
    await records.release(order);
    expect(await records.find(order.account, keyOf('k'))).toMatchObject({
      outcome: null,
      pendingMs: 0,
    });
    await records.settle(order, accepted);
    expect(await records.find(order.account, keyOf('k'))).toMatchObject({ outcome: accepted });
    await records.close();
  }
});

test('the queue of queries and orders is bounded, but outcomes are always queued', async () => {
  const records = openInlineOrderRecords({ ...quiet, path: ':memory:', max: 10 });
  const pending = await reserved(records, '1', 'k');
  const { account } = pending;
  // The first query is executed at once, 10,000 queries fit into the queue, and the last query is refused.
  const queries = Array.from({ length: 10_002 }, () => records.find(account, keyOf('k')));
  const settled = records.settle(pending, accepted);
  const results = await Promise.allSettled(queries);
  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1);
  expect(results.at(-1)).toMatchObject({ reason: { name: 'RecordsUnavailableError' } });
  await settled;
  expect(await records.find(account, keyOf('k'))).toMatchObject({ outcome: accepted });
  await records.close();
});
