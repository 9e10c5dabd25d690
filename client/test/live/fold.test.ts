import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PendingOrder, Position } from '../../src/generated/rows.ts';
import type { AccountChanges } from '../../src/live/account-operation.ts';
import { type FoldedAccount, foldAccount } from '../../src/live/fold-account.ts';
import { type FoldedPositions, foldPositions } from '../../src/live/fold-positions.ts';
import type { AccountFigures } from '../../src/live/live-source.ts';
import type { PositionChanges } from '../../src/live/positions-operation.ts';

const row = (id: string, profit = 0) => ({ id, symbol: 'AAPL', profit }) as Position;

interface EventParts {
  readonly at: number;
  readonly upserted?: readonly Position[];
  readonly closed?: readonly string[];
  readonly count: number;
  readonly status?: 'LIVE' | 'DELAYED';
  readonly cursor?: string;
}

function event(snapshot: boolean, parts: EventParts): PositionChanges {
  const { at, upserted = [], closed = [], count, status = 'LIVE', cursor = `v${at}` } = parts;
  const totals = { count, invested: null, profit: null };
  return { cursor, snapshot, upserted, closed, totals, status, asOf: new Date(at).toISOString() };
}

const snapshot = (parts: EventParts) => event(true, parts);
const delta = (parts: EventParts) => event(false, parts);

const whole = snapshot({ at: 1, upserted: [row('a'), row('b'), row('c')], count: 3 });
const start = foldPositions(null, whole) as FoldedPositions;

describe('folding positions', () => {
  test('keeps the order, puts what opened last, and keeps the rows that did not change', () => {
    const event = delta({ at: 2, upserted: [row('b', 5), row('d')], closed: ['a'], count: 3 });
    const after = foldPositions(start, event);
    expect(after?.positions.map(({ id, profit }) => [id, profit])).toEqual([
      ['b', 5],
      ['c', 0],
      ['d', 0],
    ]);
    expect(after?.positions[1]).toBe(start.positions[2]);
    expect(after?.cursor).toBe('v2');
    expect(start.positions).toHaveLength(3);
  });

  test('of a heartbeat changes the time alone, and of the same one again nothing', () => {
    const beat = delta({ at: 20, count: 3, cursor: 'v1' });
    const after = foldPositions(start, beat);
    expect(after).toMatchObject({ cursor: 'v1', asOf: new Date(20) });
    expect(after?.positions).toBe(start.positions);
    expect(after?.totals).toBe(start.totals);
    expect(foldPositions(after, beat)).toBe(after);
    expect(foldPositions(after, delta({ at: 19, count: 3, cursor: 'v1' }))).toBe(after);
    const delayed = delta({ at: 20, count: 3, cursor: 'v1', status: 'DELAYED' });
    expect(foldPositions(after, delayed)).toMatchObject({ status: 'DELAYED' });
  });

  test('says that something is missing, also where a heartbeat came ahead of the change that it follows', () => {
    const late = delta({ at: 0, upserted: [row('x')], count: 4 });
    expect(foldPositions(start, late)).toBeNull();
    expect(foldPositions(null, late)).toBeNull();
    expect(foldPositions(start, delta({ at: 3, upserted: [row('x')], count: 5 }))).toBeNull();
    expect(foldPositions(start, snapshot({ at: 0, upserted: [], count: 0 }))).toBeNull();
    const change = delta({ at: 2, upserted: [row('a', 9)], count: 3 });
    for (const at of [2, 3]) {
      const beat = delta({ at, count: 3, cursor: 'v2', status: 'DELAYED' });
      const ahead = foldPositions(start, beat);
      expect(ahead?.positions).toBe(start.positions);
      expect(foldPositions(ahead, change)).toBeNull();
    }
  });

  test('takes the first list of another server, whatever its clock says', () => {
    const upserted = [row('b', 7), row('a')];
    const after = foldPositions(start, snapshot({ at: 0, upserted, count: 2 }), { isFirst: true });
    expect(after?.positions.map(({ id }) => id)).toEqual(['b', 'a']);
    expect(after?.positions[1]).toBe(start.positions[0]);
    expect(after?.asOf).toEqual(new Date(0));
  });

  test('gives the server’s list whatever is repeated, or says that it is not known', () => {
    const ids = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'));
    const lists = fc.array(ids, { minLength: 2, maxLength: 12 });
    const repeats = fc.array(fc.record({ after: fc.nat(11), of: fc.nat(11) }));
    fc.assert(
      fc.property(lists, repeats, (versions, again) => {
        const events = versions.map((list, at) => {
          const before = versions[at - 1];
          const upserted = list.map((id) => row(id, at));
          if (before === undefined) return snapshot({ at, upserted, count: list.length });
          const closed = before.filter((id) => !list.includes(id));
          return delta({ at, upserted, closed, count: list.length });
        });
        let state: FoldedPositions | null = null;
        for (const [at, each] of events.entries()) {
          state = foldPositions(state, each);
          for (const { after, of } of again) {
            const repeated = events[of];
            if (after === at && repeated !== undefined && of <= at)
              state = foldPositions(state, repeated);
          }
          const shown = state?.positions.map(({ id, profit }) => `${id}${profit}`).toSorted();
          expect(shown).toEqual(versions[at]?.map((id) => `${id}${at}`).toSorted());
        }
      }),
    );
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
  const { upserted: _, closed: __, ...common } = delta({ at, count: 0 });
  return {
    ...common,
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

  test('takes new figures of an event without changes, and of the same one again nothing', () => {
    const beat = accountEvent(1, { session: figures(11) });
    const after = foldAccount(known, beat);
    expect(after?.session?.balance).toBe(11);
    expect(foldAccount(after, beat)).toBe(after);
  });

  test('ignores what has been applied', () => {
    const old = accountEvent(2, { orders: orders([order('x')], [], 2) });
    const later = accountEvent(3, { orders: orders([], ['x'], 3) });
    const state = foldAccount(foldAccount(known, old), later);
    expect(foldAccount(state, old)).toBe(state);
  });
});
