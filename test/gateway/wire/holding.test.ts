import { describe, expect, test } from 'vitest';
import { toOrders, toPositions } from '../../../src/gateway/wire/holding.ts';
import { readingIn } from '../../../src/gateway/wire/scalars.ts';
import { lostOf, orderRow, positionRow, wrongFor } from './rows.ts';

const positions = (...rows: unknown[]) => toPositions(rows, readingIn('auto'));
const orders = (...rows: unknown[]) => toOrders(rows, readingIn('auto'));

test('a position has each field of the interface under the name the schema gives it', () => {
  expect(Object.keys(positionRow)).toHaveLength(22);
  expect(positions(positionRow)).toStrictEqual([
    {
      id: 'p-1',
      symbol: 'AAPL',
      side: 'BUY',
      name: 'Apple',
      logo: 'https://example.com/aapl.png',
      delayed: false,
      sharia: true,
      digits: 2,
      units: 1.5,
      priceOpen: 190.25,
      priceCurrent: 191.5,
      createdAt: Date.parse('2025-01-01T00:00:00Z'),
      updatedAt: Date.parse('2025-01-01T00:01:00Z'),
      leverage: 20,
      rateMargin: 1.01,
      rateProfit: 1.02,
      stopLoss: 180,
      takeProfit: 200,
      storage: -0.75,
      comment: 'a note',
      profit: 1.875,
      invested: 14.27,
    },
  ]);
});

describe('a pending order', () => {
  test('has each field of the interface under the name the schema gives it', () => {
    expect(Object.keys(orderRow)).toHaveLength(22);
    expect(orders(orderRow)).toStrictEqual([
      {
        id: 'o-1',
        symbol: 'MSFT',
        side: 'SELL',
        kind: 'LIMIT',
        name: 'Microsoft',
        logo: 'https://example.com/msft.png',
        delayed: true,
        sharia: false,
        digits: 3,
        state: 1,
        units: 2.5,
        priceOpen: 400.5,
        priceCurrent: 410.25,
        createdAt: Date.parse('2025-01-01T00:00:00Z'),
        updatedAt: Date.parse('2025-01-01T00:01:00Z'),
        leverage: 10,
        rateMargin: 1.03,
        stopLoss: 0,
        takeProfit: 390,
        comment: '',
        invested: 100.1,
        useMargin: true,
      },
    ]);
  });

  test('that is not a limit order is a stop order', () => {
    expect(orders({ ...orderRow, isLimit: false })).toMatchObject([{ kind: 'STOP' }]);
  });
});

describe.each([
  ['position', positionRow, positions],
  ['order', orderRow, orders],
] as const)('a %s', (_, row, map) => {
  const fields = Object.keys(row).filter((field) => !['id', 'symbol'].includes(field));

  test.each(fields)('whose %s is missing or of another kind has null for it alone', (field) => {
    const [right] = map(row) ?? [];
    for (const [label, wrong] of wrongFor(row[field as keyof typeof row])) {
      const [found] = map({ ...row, [field]: wrong }) ?? [];
      expect(lostOf(right, found), label).toHaveLength(1);
    }
  });

  test.each([
    ['no id', { id: undefined }],
    ['an empty id', { id: '' }],
    ['a number for an id', { id: 7 }],
    ['no symbol', { symbol: undefined }],
    ['an empty symbol', { symbol: '' }],
    ['null for a symbol', { symbol: null }],
  ])('with %s costs the whole list, for no row is ever dropped', (_label, change) => {
    expect(map({ ...row, id: 'another' }, { ...row, ...change })).toBeNull();
  });

  test.each([[null], ['x'], [7], [[]]])('is not %j', (broken) => {
    expect(map(row, broken)).toBeNull();
  });

  test.each([1, 30, 31])(
    'that is there twice costs the whole list, with %i others in it',
    (count) => {
      const others = Array.from({ length: count }, (_, at) => ({ ...row, id: `another ${at}` }));
      expect(map(row, ...others)).toHaveLength(count + 1);
      expect(map(row, ...others, row)).toBeNull();
      expect(map(...others, row, row)).toBeNull();
    },
  );
});

test.each([[null], [undefined], [{}], ['[]'], [{ length: 0 }]])('%j is no list', (list) => {
  expect(toPositions(list, readingIn('auto'))).toBeNull();
  expect(toOrders(list, readingIn('auto'))).toBeNull();
});
