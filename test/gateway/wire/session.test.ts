import { describe, expect, test } from 'vitest';
import { toOrders, toPositions } from '../../../src/gateway/wire/holding.ts';
import { readingIn } from '../../../src/gateway/wire/scalars.ts';
import { toSession } from '../../../src/gateway/wire/session.ts';
import { lostOf, orderRow, positionRow, sessionRow, wrongFor } from './rows.ts';

const FIELDS = (Object.keys(sessionRow) as (keyof typeof sessionRow)[]).filter(
  (field) => !['login', 'positions', 'orders'].includes(field),
);
const ACCESS = Object.keys(sessionRow.access) as (keyof typeof sessionRow.access)[];

const session = (change: object = {}, login = '700001') =>
  toSession({ ...sessionRow, ...change }, login, readingIn('auto'));

describe('a session', () => {
  test('has each field of the interface under the name the schema gives it', () => {
    expect(Object.keys(sessionRow)).toHaveLength(19);
    expect(session()).toStrictEqual({
      login: '700001',
      group: 'standard-usd',
      server: 'Demo-1',
      currency: 'USD',
      balance: 50_000.5,
      credit: 500,
      equity: 50_501,
      storage: -1.25,
      assets: 3_000,
      prevEquity: 49_000,
      prevBalance: 48_000,
      leverage: 100,
      invested: 2_900,
      profits: 100.5,
      kycStatus: 'APPROVED',
      createdAt: Date.parse('2025-01-01T00:00:00Z'),
      access: sessionRow.access,
      positions: {
        ids: [positionRow.id],
        units: [positionRow.units],
        rows: toPositions([positionRow], readingIn('auto')),
      },
      orders: toOrders([orderRow], readingIn('auto')),
    });
  });

  test.each(FIELDS)('whose %s is missing or of another kind has null for it alone', (field) => {
    for (const [label, wrong] of wrongFor(sessionRow[field])) {
      expect(lostOf(session(), session({ [field]: wrong })), label).toHaveLength(1);
    }
  });

  test.each(ACCESS)('whose access lacks %s or has another kind of it has null for it', (field) => {
    for (const [label, wrong] of wrongFor(sessionRow.access[field])) {
      const access = { ...sessionRow.access, [field]: wrong };
      const found = session({ access: { ...access, more: 1 } })?.access;
      expect(found, label).toStrictEqual({ ...access, [field]: null });
    }
  });

  test.each([
    ['positions', { ids: [], units: [], rows: [] }],
    ['orders', []],
  ])('may lack %s, which is not the same as none', (list, none) => {
    expect(session({ [list]: undefined })).toMatchObject({ login: '700001', [list]: null });
    expect(session({ [list]: null })).toMatchObject({ login: '700001', [list]: null });
    expect(session({ [list]: [] })).toMatchObject({ login: '700001', [list]: none });
  });

  test.each([
    ['positions that are no list', { positions: {} }],
    ['a position without a symbol', { positions: [{ ...positionRow, symbol: undefined }] }],
    ['orders that are no list', { orders: 'none' }],
    ['an order without an id', { orders: [{ ...orderRow, id: null }] }],
  ])('with %s is none', (_, change) => {
    expect(session(change)).toBeNull();
  });

  test.each([[700002], ['700002'], [true], [{}], [{ toString: 1 }], [[700001]]])(
    'of the login %j is not the one asked for',
    (login) => {
      expect(session({ login })).toBeNull();
    },
  );

  test.each([[700001], ['700001'], [null], [undefined]])(
    'that says %j for its login is',
    (login) => {
      expect(session({ login })?.login).toBe('700001');
    },
  );
});

test.each([[null], [[]], ['x'], [7], [undefined]])('%j is no session', (body) => {
  expect(toSession(body, '700001', readingIn('auto'))).toBeNull();
});
