import { expect, test } from 'vitest';
import { openSandbox } from './sandbox-client.ts';

const FRESH = 'fresh@example.com';

test.each([
  { direction: 'buy', price: 190, kind: 'LIMIT', before: 190.01 },
  { direction: 'buy', price: 210, kind: 'STOP', before: 209.99 },
  { direction: 'sell', price: 210, kind: 'LIMIT', before: 209.99 },
  { direction: 'sell', price: 190, kind: 'STOP', before: 190.01 },
] as const)(
  'a pending order to $direction at $price becomes a position when the market reaches its price',
  async ({ direction, price, kind, before }) => {
    await using place = await openSandbox();
    const fresh = place.as(FRESH);
    place.sandbox.putPrice('AAPL', 200);
    const id = await fresh.order({ direction, price });
    const side = direction.toUpperCase();
    const pending = { id, symbol: 'AAPL', units: 1, side, kind, priceOpen: price };
    expect(await fresh.orders()).toEqual([expect.objectContaining(pending)]);
    expect(await fresh.positions()).toEqual([]);

    place.sandbox.putPrice('AAPL', before);
    expect(await fresh.orders()).toHaveLength(1);
    expect(await fresh.positions()).toEqual([]);

    place.sandbox.putPrice('AAPL', price);
    expect(await fresh.orders()).toEqual([]);
    expect(await fresh.positions()).toEqual([
      expect.objectContaining({ id, side, priceOpen: price, profit: 0 }),
    ]);
  },
);

test.each([
  { direction: 'buy', level: { sl: 195 }, before: 195.01, reached: 195, result: -5 },
  { direction: 'buy', level: { tp: 205 }, before: 204.99, reached: 205, result: 5 },
  { direction: 'sell', level: { sl: 205 }, before: 204.99, reached: 205, result: -5 },
  { direction: 'sell', level: { tp: 195 }, before: 195.01, reached: 195, result: 5 },
] as const)(
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
    const closed = { balance: 10_000 + result, equity: 10_000 + result, invested: 0, profits: 0 };
    expect(await fresh.session()).toMatchObject(closed);
  },
);
