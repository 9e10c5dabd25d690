import { describe, expect, test } from 'vitest';
import { digestOfIds, ORDERS, POSITIONS } from '../../../src/gateway/operations/holdings.ts';
import { readingIn } from '../../../src/gateway/scalars.ts';
import { toSession } from './read-session.ts';
import {
  lostOf,
  orderRow,
  orderValues,
  positionRow,
  positionValues,
  sessionRow,
  wrongFor,
} from './rows.ts';

const NEW_YEAR = Date.parse('2025-01-01T00:00:00Z');

const positions = (...rows: unknown[]) => POSITIONS.read(rows, readingIn('auto'));
const orders = (...rows: unknown[]) => ORDERS.read(rows, readingIn('auto'));
const session = (change: object = {}, login = '700001') =>
  toSession({ ...sessionRow, ...change }, login, readingIn('auto'));

describe('each field of the gateway’s interface has its name in the schema', () => {
  test('in a position', () => {
    expect(Object.keys(positionRow)).toHaveLength(22);
    expect(positions(positionRow)).toStrictEqual([
      {
        ...positionValues,
        side: 'BUY',
        createdAt: NEW_YEAR,
        updatedAt: NEW_YEAR + 60_000,
      },
    ]);
  });

  test('in a pending order, which is a stop order unless it is a limit order', () => {
    expect(Object.keys(orderRow)).toHaveLength(22);
    expect(orders(orderRow)).toStrictEqual([
      {
        ...orderValues,
        side: 'SELL',
        kind: 'LIMIT',
        createdAt: NEW_YEAR,
        updatedAt: NEW_YEAR + 60_000,
      },
    ]);
    expect(orders({ ...orderRow, isLimit: false })).toMatchObject([{ kind: 'STOP' }]);
  });

  test('in a session', () => {
    const { Invested, Profits, kyc_status, ...same } = sessionRow;
    expect(Object.keys(sessionRow)).toHaveLength(19);
    const { id } = positionRow;
    expect(session()).toStrictEqual({
      ...same,
      login: '700001',
      invested: 2_900,
      profits: 100.5,
      kycStatus: 'APPROVED',
      createdAt: NEW_YEAR,
      positions: { ids: digestOfIds([{ id }]), rows: positions(positionRow) },
      orders: orders(orderRow),
    });
  });
});

describe.each<[string, object, (row: object) => object | null | undefined]>([
  ['position', positionRow, (row) => positions(row)?.[0]],
  ['order', orderRow, (row) => orders(row)?.[0]],
  ['session', sessionRow, session],
  ['access', sessionRow.access, (access) => session({ access })?.access],
])('a field of %s', (_, row, map) => {
  const required = ['symbol', 'login', 'positions', 'orders'];
  // Positions and orders, the rows with a symbol, need their id too.
  if ('symbol' in row) required.push('id');
  const fields = Object.entries(row).filter(([name]) => !required.includes(name));

  test.each(fields)('%s alone is null if it is missing or of another type', (name, right) => {
    for (const [label, wrong] of wrongFor(right)) {
      const found = map({ ...row, [name]: wrong, unknownField: 1 });
      expect(lostOf(map(row), found), label).toHaveLength(1);
    }
  });
});

describe.each([
  ['positions', positionRow, positions],
  ['orders', orderRow, orders],
] as const)('a list of %s', (list, row, map) => {
  test.each([
    ['a row without an id', { ...row, id: undefined }],
    ['a row with an empty id', { ...row, id: '' }],
    ['a row whose id is a number', { ...row, id: 7 }],
    ['a row without a symbol', { ...row, symbol: undefined }],
    ['a row with an empty symbol', { ...row, symbol: '' }],
    ['a row whose symbol is null', { ...row, symbol: null }],
    ['two rows of the same id', row],
    ['null instead of a row', null],
    ['a string instead of a row', 'x'],
    ['a list instead of a row', []],
  ])('with %s is refused as a whole, because no row is ever dropped', (_label, broken) => {
    const other = { ...row, id: 'another' };
    expect(map(row, other)).toHaveLength(2);
    expect(map(row, other, broken)).toBeNull();
    expect(session({ [list]: [row, broken] })).toBeNull();
  });

  test.each([[null], [undefined], [{}], ['[]'], [{ length: 0 }]])('is not %j', (broken) => {
    expect(POSITIONS.read(broken, readingIn('auto'))).toBeNull();
    expect(ORDERS.read(broken, readingIn('auto'))).toBeNull();
    if (broken != null) expect(session({ [list]: broken })).toBeNull();
  });

  test('may be missing in a session, and is null then, not empty', () => {
    for (const nothing of [undefined, null]) {
      expect(session({ [list]: nothing })).toMatchObject({ login: '700001', [list]: null });
    }
    const none = list === 'orders' ? [] : { ids: digestOfIds([]), rows: [] };
    expect(session({ [list]: [] })).toMatchObject({ login: '700001', [list]: none });
  });
});

// The last login is a list.
test.each([[700002], ['700002'], [true], [{}], [{ toString: 1 }], [[700001]]])(
  'a session of the login %j is refused',
  (login) => {
    expect(session({ login })).toBeNull();
  },
);

test.each([[700001], ['700001'], [null], [undefined]])(
  'a session whose login is %j is accepted',
  (login) => {
    expect(session({ login })?.login).toBe('700001');
  },
);

test.each([[null], [[]], ['x'], [7], [undefined], [{}], [{ message: 'maintenance' }]])(
  '%j is not a session',
  (body) => {
    expect(toSession(body, '700001', readingIn('auto'))).toBeNull();
  },
);

test.each([[{ balance: 1 }], [{ equity: 1 }], [{ group: 'g' }]])(
  '%j is a session of the requested login',
  (body) => {
    expect(toSession(body, '700001', readingIn('auto'))?.login).toBe('700001');
  },
);
