import { describe, expect, test } from 'vitest';
import type { PendingOrder } from '../../src/generated/rows.ts';
import type { AccountChanges } from '../../src/live/account-operation.ts';
import { type FoldedAccount, foldAccount } from '../../src/live/fold-account.ts';
import { type FoldedList, foldList } from '../../src/live/fold-list.ts';
import type {
  AccountFigures,
  FoldOptions,
  ListChanges,
  LiveEvent,
} from '../../src/live/live-source.ts';

/** A row of any list: what names it, what moves, and what does not. */
interface Row {
  readonly name: { readonly key: string };
  readonly price: number;
  readonly note?: string;
}

const row = (key: string, price = 0): Row => ({ name: { key }, price });
const keyOf = ({ name }: Row) => name.key;
const fold = (
  state: FoldedList<Row> | null,
  event: LiveEvent & ListChanges<Row>,
  options?: FoldOptions,
) => foldList(state, event, keyOf, options);

interface EventParts extends Partial<ListChanges<Row>> {
  readonly at: number;
  /** How many rows the list has; left out where it tells no totals. */
  readonly count?: number;
  readonly status?: 'LIVE' | 'DELAYED';
  readonly cursor?: string;
}

function event(snapshot: boolean, parts: EventParts) {
  const { at, upserted = [], ticks = [], closed = [], count } = parts;
  const { status = 'LIVE', cursor = `v${at}` } = parts;
  const common = { cursor, snapshot, upserted, ticks, closed, status };
  const asOf = new Date(at).toISOString();
  if (count === undefined) return { ...common, asOf };
  return { ...common, asOf, totals: { count, invested: null, profit: null } };
}

const snapshot = (parts: EventParts) => event(true, parts);
const delta = (parts: EventParts) => event(false, parts);

const whole = snapshot({ at: 1, upserted: [row('a'), row('b'), row('c')], count: 3 });
const start = fold(null, whole) as FoldedList<Row>;

describe('folding a list', () => {
  test('keeps the order, puts what opened last, and keeps the rows that did not change', () => {
    const event = delta({ at: 2, upserted: [row('b', 5), row('d')], closed: ['a'], count: 3 });
    const after = fold(start, event);
    expect(after?.rows).toEqual([row('b', 5), row('c'), row('d')]);
    expect(after?.rows[1]).toBe(start.rows[2]);
    expect(after?.cursor).toBe('v2');
    expect(start.rows).toHaveLength(3);
  });

  test('takes the moving fields of a tick into its row, and keeps the others', () => {
    const noted = { ...row('b'), note: 'kept' };
    const before = fold(start, delta({ at: 2, upserted: [noted], count: 3 }));
    const after = fold(before, delta({ at: 3, ticks: [row('b', 7)], count: 3 }));
    expect(after?.rows).toEqual([row('a'), { ...noted, price: 7 }, row('c')]);
    expect(after?.rows[0]).toBe(start.rows[0]);
    const same = fold(after, delta({ at: 4, ticks: [row('b', 7)], count: 3 }));
    expect(same?.rows).toBe(after?.rows);
    // The event that brought the row is missing.
    expect(fold(after, delta({ at: 4, ticks: [row('x')], count: 3 }))).toBeNull();
    expect(fold(after, delta({ at: 4, ticks: [row('b')], closed: ['b'] }))).toBeNull();
  });
});

const order = (id: string, priceOpen = 1) => ({ id, symbol: 'AAPL', priceOpen }) as PendingOrder;
const figures = (balance: number) => ({ id: '1', login: '1', balance }) as AccountFigures;
const orders = (upserted: readonly PendingOrder[], closed: readonly string[] = [], at = 1) => ({
  upserted,
  closed,
  fetchedAt: new Date(at).toISOString(),
});

function accountEvent(at: number, parts: Partial<AccountChanges>): AccountChanges {
  const totals = { count: 0, invested: null, profit: null };
  return {
    ...delta({ at }),
    totals,
    positions: { upserted: [], closed: [] },
    orders: orders([]),
    session: figures(10),
    ...parts,
  };
}

const everything = { snapshot: true, orders: orders([order('a'), order('b')]) };
const known = foldAccount(null, accountEvent(1, everything)) as FoldedAccount;
const idsOf = (state: FoldedAccount | null) => state?.orders?.list.map(({ id }) => id);

describe('folding an account', () => {
  test('applies what changed of the orders, and keeps the rows that did not', () => {
    const after = foldAccount(known, accountEvent(2, { orders: orders([order('c')], ['a'], 2) }));
    expect(idsOf(after)).toEqual(['b', 'c']);
    expect(after?.orders?.list[0]).toBe(known.orders?.list[1]);
    expect(after?.orders?.fetchedAt).toEqual(new Date(2));
    expect(after?.cursor).toBe('v2');
  });

  test('keeps orders and figures where an event has the same or none, but no orders over a snapshot', () => {
    const same = foldAccount(known, accountEvent(2, everything), { isFirst: true });
    expect(same?.orders).toBe(known.orders);
    expect(same?.session).toBe(known.session);
    const kept = foldAccount(known, accountEvent(2, { orders: null, session: null }));
    expect(kept).toMatchObject({ orders: known.orders, session: known.session, cursor: 'v2' });
    const anew = foldAccount(known, accountEvent(3, { snapshot: true, orders: null }));
    expect(anew?.orders).toBeNull();
    const first = foldAccount(anew, accountEvent(4, { orders: orders([order('z')], [], 4) }));
    expect(idsOf(first)).toEqual(['z']);
    expect(idsOf(foldAccount(anew, accountEvent(4, { orders: orders([], [], 4) })))).toEqual([]);
  });
});
