import { describe, expect, test } from 'vitest';
import type { PendingOrder } from '../../src/generated/rows.ts';
import type { AccountChanges } from '../../src/live/account-operation.ts';
import { type FoldedAccount, foldAccount } from '../../src/live/fold-account.ts';
import type { AccountFigures } from '../../src/live/live-source.ts';

const order = (id: string, priceOpen = 1) => ({ id, symbol: 'AAPL', priceOpen }) as PendingOrder;
const figures = (balance: number) => ({ id: '1', login: '1', balance }) as AccountFigures;
const orders = (upserted: readonly PendingOrder[], closed: readonly string[] = [], at = 1) => ({
  upserted,
  closed,
  fetchedAt: new Date(at).toISOString(),
});

function event(at: number, parts: Partial<AccountChanges>): AccountChanges {
  return {
    cursor: `v${at}`,
    snapshot: false,
    positions: { upserted: [], closed: [] },
    orders: orders([]),
    session: figures(10),
    totals: { count: 0, invested: null, profit: null },
    status: 'LIVE',
    asOf: new Date(at).toISOString(),
    ...parts,
  };
}

const whole = { snapshot: true, orders: orders([order('a'), order('b')]) };
const before = foldAccount(null, event(1, whole)) as FoldedAccount;
const idsOf = (state: FoldedAccount | null) => state?.orders?.list.map(({ id }) => id);

describe('folding an account', () => {
  test('applies what changed of the orders, and keeps the rows that did not', () => {
    const after = foldAccount(before, event(2, { orders: orders([order('c')], ['a'], 2) }));
    expect(idsOf(after)).toEqual(['b', 'c']);
    expect(after?.orders?.list[0]).toBe(before.orders?.list[1]);
    expect(after?.orders?.fetchedAt).toEqual(new Date(2));
    expect(after?.cursor).toBe('v2');
  });

  test('of a snapshot that says the same keeps rows, orders and figures', () => {
    const after = foldAccount(before, event(2, whole), { isFirst: true });
    expect(after?.orders).toBe(before.orders);
    expect(after?.session).toBe(before.session);
    expect(after?.asOf).toEqual(new Date(2));
  });

  test('keeps orders and figures where an event has none, but no orders over a snapshot', () => {
    const kept = foldAccount(before, event(2, { orders: null, session: null }));
    expect(kept).toMatchObject({ orders: before.orders, session: before.session, cursor: 'v2' });
    const anew = foldAccount(before, event(3, { snapshot: true, orders: null }));
    expect(anew?.orders).toBeNull();
    const first = foldAccount(anew, event(4, { orders: orders([order('z')], [], 4) }));
    expect(idsOf(first)).toEqual(['z']);
    expect(idsOf(foldAccount(anew, event(4, { orders: orders([], [], 4) })))).toEqual([]);
  });

  test('takes new figures of an event without changes, and of the same one again nothing', () => {
    const beat = event(1, { session: figures(11) });
    const after = foldAccount(before, beat);
    expect(after?.session?.balance).toBe(11);
    expect(foldAccount(after, beat)).toBe(after);
  });

  test('ignores what has been applied, and says that something is missing', () => {
    const old = event(2, { orders: orders([order('x')], [], 2) });
    const later = event(3, { orders: orders([], ['x'], 3) });
    const state = foldAccount(foldAccount(before, old), later);
    expect(foldAccount(state, old)).toBe(state);
    expect(foldAccount(state, event(0, {}))).toBeNull();
    expect(foldAccount(null, later)).toBeNull();
  });
});
