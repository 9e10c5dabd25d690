import { expect, test } from 'vitest';
import { createRecordTable } from '../../../src/store/memory/record-table.ts';
import { RECORD_LIFE_MS, type Reservation } from '../../../src/store/order-records.ts';
import { createSeededRandom } from '../../end-to-end/orders/seeded-random.ts';
import { accountNamed } from '../../support/accounts.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { request } from '../order-records-contract.ts';

function openTable() {
  const clock = createScriptedClock();
  return { clock, table: createRecordTable({ max: 100_000, uptimeMs: () => clock.now() }) };
}

test('after an idle weekend a call drops a bounded number of records, and none is answered', async () => {
  const { clock, table } = openTable();
  for (let n = 0; n < 1_000; n += 1) table.add({ ...request('1', `${n}`), id: `${n}` });
  await clock.advance(RECORD_LIFE_MS - 1);
  expect(table.size()).toBe(1_000);
  await clock.advance(1);
  expect(table.get(accountNamed('1'), '999')).toBe(null);
  expect([...table.values()]).toEqual([]);
  expect([1, 2, 3, 4].map(() => table.size())).toEqual([600, 400, 200, 0]);
});

test.each([1, 2])('however records come, go and expire, the others stay: seed %i', async (seed) => {
  const random = createSeededRandom(seed);
  const { clock, table } = openTable();
  const expected = new Map<string, { readonly of: Reservation; readonly bornAtMs: number }>();
  for (let step = 0; step < 150; step += 1) {
    // Bursts, so that more is over at once than one call drops.
    for (let n = random.below(300); n >= 0; n -= 1) {
      const [account, key] = [accountNamed(`${random.below(3)}`), `${random.below(500)}`] as const;
      const [id, of] = [`${account}/${key}`, { ...request(account, key), id: `${step}-${n}` }];
      const known = expected.get(id);
      expect(table.find(account, key)?.reservation).toEqual(known?.of);
      if (random.below(3) === 0) {
        const ageMs = random.below(2 * RECORD_LIFE_MS);
        table.adopt(of, null, ageMs);
        expected.delete(id);
        if (ageMs < RECORD_LIFE_MS) expected.set(id, { of, bornAtMs: clock.now() - ageMs });
      } else if (!known) {
        table.add(of);
        expected.set(id, { of, bornAtMs: clock.now() });
      } else if (table.release(known.of)) {
        expected.delete(id);
      }
    }
    expect([...table.values()].map(({ reservation }) => reservation)).toEqual(
      [...expected.values()].map(({ of }) => of),
    );
    const most = random.pick([1_000, 1_000, 600_000, RECORD_LIFE_MS / 6, RECORD_LIFE_MS]);
    await clock.advance(random.below(most));
    for (const [id, { bornAtMs }] of expected) {
      if (clock.now() - bornAtMs >= RECORD_LIFE_MS) expected.delete(id);
    }
  }
  await clock.advance(RECORD_LIFE_MS);
  for (let call = 0; call < 1_000; call += 1) void table.size();
  expect(table.size()).toBe(0);
});
