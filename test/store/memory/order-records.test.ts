import { describe, expect, test } from 'vitest';
import { createMemoryOrderRecords } from '../../../src/store/memory/order-records.ts';
import { RecordTable } from '../../../src/store/memory/record-table.ts';
import { RECORD_LIFE_MS } from '../../../src/store/order-records.ts';
import { accepted, itKeepsOrderRecords, request, reserved } from '../order-records-contract.ts';
import { itVoidsKeys, rememberedMs, voidRequest } from '../void-contract.ts';

async function openRecords(max: number, maxPerAccount = max) {
  const uptimeMs = () => performance.now();
  const records = createMemoryOrderRecords({ max, maxPerAccount, uptimeMs });
  return { records, [Symbol.asyncDispose]: () => records.close() };
}

describe('order records in memory', () => {
  itKeepsOrderRecords(openRecords);
  itVoidsKeys(openRecords);

  test('remember since they began, and a day at the most', async () => {
    let uptimeMs = 1_000_000;
    const records = createMemoryOrderRecords({ max: 9, uptimeMs: () => uptimeMs });
    expect(await rememberedMs(records, 'k1')).toBe(0);
    uptimeMs += 5_000.5;
    expect(await rememberedMs(records, 'k2')).toBe(5_000);
    uptimeMs += 3 * RECORD_LIFE_MS;
    expect(await rememberedMs(records, 'k3')).toBe(RECORD_LIFE_MS);
  });

  test('an account may close another key when its oldest closed one expires, though others hide it', async () => {
    let uptimeMs = 0;
    const bounds = { max: 5_000, maxPerAccount: 1_000 };
    const records = createMemoryOrderRecords({ ...bounds, uptimeMs: () => uptimeMs });
    // A call drops a few hundred of the records that are over.
    for (let n = 0; n < 900; n += 1) await reserved(records, '1', `order ${n}`);
    for (let n = 0; n < 100; n += 1) await records.voidKey(voidRequest('1', `k${n}`));
    uptimeMs = RECORD_LIFE_MS - 1_500;
    const refused = records.voidKey(voidRequest('1', 'new'));
    await expect(refused).rejects.toMatchObject({ retryAfterSeconds: 2 });
    uptimeMs = RECORD_LIFE_MS;
    expect(await records.find('1', 'k0')).toBe(null);
    expect(await records.voidKey(voidRequest('1', 'k0'))).toMatchObject({ voided: true });
  });

  test('a record lives a day from its reservation, whenever its outcome came', async () => {
    let uptimeMs = 0;
    const records = createMemoryOrderRecords({ max: 2, uptimeMs: () => uptimeMs });
    const early = await reserved(records, '1', 'early');
    uptimeMs = 1_000;
    await reserved(records, '1', 'late');
    uptimeMs = RECORD_LIFE_MS - 1;
    await records.settle(early, accepted);
    expect(await records.find('1', 'early')).toMatchObject({ outcome: accepted });
    uptimeMs = RECORD_LIFE_MS;
    expect(await records.find('1', 'early')).toBe(null);
    expect(await records.find('1', 'late')).not.toBe(null);
    await reserved(records, '1', 'early');
    expect(records.held()).toBe(2);
    // Asked for nothing else, it forgets what is over all the same.
    uptimeMs = 3 * RECORD_LIFE_MS;
    expect(records.held()).toBe(0);
  });

  test('a record of the day before is not among those that a replica writes back', async () => {
    let uptimeMs = 0;
    const table = new RecordTable({ max: 9, uptimeMs: () => uptimeMs });
    table.add({ ...request('1', 'early'), id: 'early' });
    uptimeMs = 1_000;
    table.add({ ...request('1', 'late'), id: 'late' });
    uptimeMs = RECORD_LIFE_MS;
    expect([...table.values()].map(({ reservation }) => reservation.id)).toEqual(['late']);
  });
});
