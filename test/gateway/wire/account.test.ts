import { describe, expect, test } from 'vitest';
import { ACCESS, SESSION } from '../../../src/gateway/operations/get-session.ts';
import { METHOD, methodsIn } from '../../../src/gateway/operations/get-withdrawal-methods.ts';
import { digestOfIds, ORDER, ORDERS, POSITIONS } from '../../../src/gateway/operations/holdings.ts';
import { readingIn } from '../../../src/gateway/scalars.ts';
import { methodValues as method } from '../../operations/cases.ts';
import { toSession } from './read-session.ts';
import {
  lostOf,
  orderRow,
  orderValues,
  positionRow,
  positionValues,
  positionWith,
  sessionValues,
  sessionWith,
  wrongFor,
} from './rows.ts';

const positions = (...rows: unknown[]) => POSITIONS.read(rows, readingIn('auto'));
const orders = (...rows: unknown[]) => ORDERS.read(rows, readingIn('auto'));
const orderWith = (change: object) => ORDER.toWire({ ...orderValues, ...change });
const session = (change: object = {}) =>
  toSession(
    sessionWith({ positions: [positionRow], orders: [orderRow], ...change }),
    '700001',
    readingIn('auto'),
  );

const accessIn = (change: object) =>
  session({ access: ACCESS.toWire({ ...sessionValues.access, ...change }) })?.access;

describe.each<
  [string, object, (change: Readonly<Record<string, unknown>>) => object | null | undefined]
>([
  ['position', positionValues, (change) => positions(positionWith(change))?.[0]],
  ['order', orderValues, (change) => orders(orderWith(change))?.[0]],
  ['session', sessionValues, session],
  ['access', sessionValues.access, accessIn],
  [
    'withdrawal method',
    method,
    (change) => methodsIn([[METHOD.toWire({ ...method, ...change })]], readingIn('auto'))?.[0],
  ],
])('a field of %s', (_, values, map) => {
  const required = ['symbol', 'login'];
  // Positions and orders, the rows with a symbol, need their id too.
  if ('symbol' in values) required.push('id');
  const fields = Object.entries(values).filter(([name]) => !required.includes(name));

  test.each(fields)('%s alone is null if it is missing or of another type', (name, right) => {
    for (const [label, wrong] of wrongFor(right)) {
      expect(lostOf(map({}), map({ [name]: wrong })), label).toHaveLength(1);
    }
  });
});

describe.each([
  ['positions', positionWith, positions],
  ['orders', orderWith, orders],
] as const)('a list of %s', (list, rowWith, map) => {
  const row = rowWith({});

  test.each([
    ['a row without an id', rowWith({ id: undefined })],
    ['a row with an empty id', rowWith({ id: '' })],
    ['a row whose id is a number', rowWith({ id: 7 })],
    ['a row without a symbol', rowWith({ symbol: undefined })],
    ['a row with an empty symbol', rowWith({ symbol: '' })],
    ['a row whose symbol is null', rowWith({ symbol: null })],
    ['two rows of the same id', row],
    ['null instead of a row', null],
    ['a string instead of a row', 'x'],
    ['a list instead of a row', []],
  ])('with %s is refused as a whole, because no row is ever dropped', (_label, broken) => {
    const other = rowWith({ id: 'another' });
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

test.each(['balance', 'equity', 'group'] as const)(
  'a body with %s alone is a session of the requested login',
  (name) => {
    const body = { [SESSION.names[name]]: sessionValues[name] };
    expect(toSession(body, '700001', readingIn('auto'))?.login).toBe('700001');
  },
);
