import { expect, test } from 'vitest';
import { openSandbox } from './sandbox-client.ts';

const FRESH = 'fresh@example.com';

test.each([
  { direction: 'buy', price: 190, isLimit: true, before: 190.01 },
  { direction: 'buy', price: 210, isLimit: false, before: 209.99 },
  { direction: 'sell', price: 210, isLimit: true, before: 209.99 },
  { direction: 'sell', price: 190, isLimit: false, before: 190.01 },
])(
  'a pending order to $direction at $price becomes a position when the market reaches its price',
  async ({ direction, price, isLimit, before }) => {
    await using place = await openSandbox();
    const fresh = place.as(FRESH);
    place.sandbox.putPrice('AAPL', 200);
    const id = await fresh.order({ direction, price });
    const isBuy = direction === 'buy';
    const pending = { id, symbol: 'AAPL', units: 1, isBuy, isLimit, priceOpen: price };
    expect(await fresh.orders()).toEqual([expect.objectContaining(pending)]);
    expect(await fresh.positions()).toEqual([]);

    place.sandbox.putPrice('AAPL', before);
    expect(await fresh.orders()).toHaveLength(1);
    expect(await fresh.positions()).toEqual([]);

    place.sandbox.putPrice('AAPL', price);
    expect(await fresh.orders()).toEqual([]);
    expect(await fresh.positions()).toEqual([
      expect.objectContaining({ id, isBuy, priceOpen: price, profit: 0 }),
    ]);
  },
);

test.each([
  { direction: 'buy', level: { sl: 195 }, before: 195.01, reached: 195, result: -5 },
  { direction: 'buy', level: { tp: 205 }, before: 204.99, reached: 205, result: 5 },
  { direction: 'sell', level: { sl: 205 }, before: 204.99, reached: 205, result: -5 },
  { direction: 'sell', level: { tp: 195 }, before: 195.01, reached: 195, result: 5 },
])(
  'an open position to $direction with $level closes at that level',
  async ({ direction, level, before, reached, result }) => {
    await using place = await openSandbox();
    const fresh = place.as(FRESH);
    place.sandbox.putPrice('AAPL', 200);
    await fresh.order({ direction, ...level });
    place.sandbox.putPrice('AAPL', before);
    expect(await fresh.positions()).toHaveLength(1);
    expect(await fresh.session()).toMatchObject({ balance: 10_000 });

    place.sandbox.putPrice('AAPL', reached);
    expect(await fresh.positions()).toEqual([]);
    const closed = { balance: 10_000 + result, equity: 10_000 + result, Invested: 0, Profits: 0 };
    expect(await fresh.session()).toMatchObject(closed);
  },
);
