import { expect, test } from 'vitest';
import type { PendingOrder } from '../../src/generated/rows.ts';
import type { AccountChanges } from '../../src/live/account-operation.ts';
import { foldAccount } from '../../src/live/fold-account.ts';
import { foldList } from '../../src/live/fold-list.ts';
import type { AccountFigures } from '../../src/live/live-source.ts';

// The cases of client/vectors/folds.json check the content of a fold; these tests check which objects stay the same.

/** A row of any list: an object with its key, and a moving field. */
interface Row {
  readonly name: { readonly key: string };
  readonly price: number;
}

const row = (key: string, price = 0): Row => ({ name: { key }, price });
const noChanges = { upserted: [], ticks: [], closed: [] };
/** The common fields of an event at this second. */
const eventAt = (second: number) => ({
  cursor: `v${second}`,
  snapshot: second === 1,
  status: 'LIVE' as const,
  asOf: new Date(1_000 * second).toISOString(),
});

test('a list keeps the objects of unchanged rows, and stays the same object if a tick changes nothing', () => {
  const fold = (state: ReturnType<typeof foldList<Row>>, second: number, changes: object) =>
    foldList<Row>(state, { ...eventAt(second), ...noChanges, ...changes }, ({ name }) => name.key);
  const start = fold(null, 1, { upserted: [row('a'), row('b'), row('c')] });
  const after = fold(start, 2, { upserted: [row('b', 5), row('d')], closed: ['a'] });
  expect(after?.rows).toEqual([row('b', 5), row('c'), row('d')]);
  expect(after?.rows[1]).toBe(start?.rows[2]);
  expect(start?.rows).toHaveLength(3);
  const moved = fold(after, 3, { ticks: [row('b', 7)] });
  expect(moved?.rows[1]).toBe(after?.rows[1]);
  expect(fold(moved, 4, { ticks: [row('b', 7)] })?.rows).toBe(moved?.rows);
});

test('an account keeps the objects of its orders and its session if an event has the same data or none', () => {
  const order = (id: string) => ({ id, symbol: 'AAPL', priceOpen: 1 }) as PendingOrder;
  const orders = (upserted: readonly PendingOrder[], closed: readonly string[] = []) => ({
    upserted,
    closed,
    fetchedAt: eventAt(1).asOf,
  });
  const session = { id: '1', login: '1', balance: 10 } as AccountFigures;
  const event = (second: number, parts: object) =>
    ({
      ...eventAt(second),
      positions: noChanges,
      totals: { count: 0, invested: null, profit: null },
      orders: null,
      session: { ...session },
      ...parts,
    }) as AccountChanges;
  const whole = { snapshot: true, orders: orders([order('a'), order('b')]) };
  const known = foldAccount(null, event(1, whole));
  // The first event of a new subscription is a snapshot again.
  const same = foldAccount(known, event(2, whole), { isFirst: true });
  expect([same?.orders, same?.session]).toEqual([known?.orders, known?.session]);
  expect(same?.orders).toBe(known?.orders);
  expect(same?.session).toBe(known?.session);
  expect(foldAccount(known, event(2, {}))?.orders).toBe(known?.orders);
  const after = foldAccount(known, event(2, { orders: orders([order('c')], ['a']) }));
  expect(after?.orders?.list[0]).toBe(known?.orders?.list[1]);
});
