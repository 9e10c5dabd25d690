import { describe, expect, test } from 'vitest';
import { openSandbox } from './sandbox-client.ts';

const FRESH = 'fresh@example.com';

describe('a market order', () => {
  test('becomes an open position immediately, at the price of the market', async () => {
    await using place = await openSandbox();
    const fresh = place.as(FRESH);
    place.sandbox.putPrice('AAPL', 200);
    const id = await fresh.order({ amount: 3, comment: 'a note' });
    expect(await fresh.positions()).toEqual([
      expect.objectContaining({
        id,
        symbol: 'AAPL',
        units: 3,
        isBuy: true,
        priceOpen: 200,
        priceCurrent: 200,
        profit: 0,
        invested: 120,
        sl: 0,
        tp: 0,
        comment: 'a note',
        timeCreate: place.clock.now(),
      }),
    ]);
    expect(await fresh.orders()).toEqual([]);
  });

  test('of an amount ties up that much money and not more', async () => {
    await using place = await openSandbox();
    const fresh = place.as(FRESH);
    place.sandbox.putPrice('AAPL', 200);
    await fresh.order({ type: 'amount', amount: 1_000 });
    expect(await fresh.positions()).toEqual([
      expect.objectContaining({ units: 25, invested: 1_000, leverage: 5 }),
    ]);
  });

  test('turns amounts to lose and to win into prices', async () => {
    await using place = await openSandbox();
    const fresh = place.as(FRESH);
    place.sandbox.putPrice('AAPL', 200);
    await fresh.order({ type: 'amount', amount: 1_000, slAmount: 50, tpAmount: 100 });
    await fresh.order({
      type: 'amount',
      direction: 'sell',
      amount: 1_000,
      slAmount: 50,
      tpAmount: 100,
    });
    expect(await fresh.positions()).toEqual([
      expect.objectContaining({ isBuy: true, sl: 198, tp: 204 }),
      expect.objectContaining({ isBuy: false, sl: 202, tp: 196 }),
    ]);
  });
});

describe('a pending order', () => {
  test.each([
    { direction: 'buy', price: 190, isLimit: true, before: 190.01, at: 190 },
    { direction: 'buy', price: 210, isLimit: false, before: 209.99, at: 210 },
    { direction: 'sell', price: 210, isLimit: true, before: 209.99, at: 210 },
    { direction: 'sell', price: 190, isLimit: false, before: 190.01, at: 190 },
  ])(
    '$direction at $price waits until the market is there, then is a position',
    async ({ direction, price, isLimit, before, at }) => {
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

      place.sandbox.putPrice('AAPL', at);
      expect(await fresh.orders()).toEqual([]);
      expect(await fresh.positions()).toEqual([
        expect.objectContaining({ id, isBuy, priceOpen: at, profit: 0 }),
      ]);
    },
  );

  test('comes of op 5 whatever the price is', async () => {
    await using place = await openSandbox();
    const fresh = place.as(FRESH);
    place.sandbox.putPrice('AAPL', 200);
    const order = { symbol: 'AAPL', direction: 'buy', amount: 1_000, price: 200 };
    const { body } = await fresh.post('/trading/positions/limit', order);
    expect(body).toMatchObject({ success: true, orderId: expect.any(String) });
    expect(await fresh.positions()).toEqual([]);
    expect(await fresh.orders()).toEqual([
      expect.objectContaining({ units: 25, invested: 1_000, isLimit: false, priceOpen: 200 }),
    ]);
  });

  test('keeps its stop-loss and take-profit when it executes', async () => {
    await using place = await openSandbox();
    const fresh = place.as(FRESH);
    place.sandbox.putPrice('AAPL', 200);
    await fresh.order({ price: 190, sl: 180, tp: 205 });
    place.sandbox.putPrice('AAPL', 189);
    expect(await fresh.positions()).toEqual([
      expect.objectContaining({ priceOpen: 189, sl: 180, tp: 205 }),
    ]);
  });

  test('executes and closes in one move where the price jumps past both levels', async () => {
    await using place = await openSandbox();
    const fresh = place.as(FRESH);
    place.sandbox.putPrice('AAPL', 200);
    await fresh.order({ price: 190, sl: 180 });
    place.sandbox.putPrice('AAPL', 150);
    expect(await fresh.positions()).toEqual([]);
    expect(await fresh.orders()).toEqual([]);
  });

  test('is found by the walk of the market too, not only by a price put by hand', async () => {
    await using place = await openSandbox();
    const fresh = place.as(FRESH);
    place.sandbox.putPrice('AAPL', 200);
    await fresh.order({ price: 199.9 });
    await fresh.order({ price: 200.1 });
    for (let i = 0; i < 500 && (await fresh.orders()).length > 0; i += 1) place.sandbox.tick();
    expect(await fresh.orders()).toEqual([]);
    expect(await fresh.positions()).toHaveLength(2);
  });
});

describe('an open position', () => {
  test.each([
    { direction: 'buy', level: { sl: 195 }, before: 195.01, at: 195, result: -5 },
    { direction: 'buy', level: { tp: 205 }, before: 204.99, at: 205, result: 5 },
    { direction: 'sell', level: { sl: 205 }, before: 204.99, at: 205, result: -5 },
    { direction: 'sell', level: { tp: 195 }, before: 195.01, at: 195, result: 5 },
  ])('$direction with $level closes there', async ({ direction, level, before, at, result }) => {
    await using place = await openSandbox();
    const fresh = place.as(FRESH);
    place.sandbox.putPrice('AAPL', 200);
    await fresh.order({ direction, ...level });
    place.sandbox.putPrice('AAPL', before);
    expect(await fresh.positions()).toHaveLength(1);
    expect(await fresh.session()).toMatchObject({ balance: 10_000 });

    place.sandbox.putPrice('AAPL', at);
    expect(await fresh.positions()).toEqual([]);
    const closed = { balance: 10_000 + result, equity: 10_000 + result, Invested: 0, Profits: 0 };
    expect(await fresh.session()).toMatchObject(closed);
  });

  test('without either stays open, whatever the market does', async () => {
    await using place = await openSandbox();
    const fresh = place.as(FRESH);
    await fresh.order({});
    for (const price of [1, 10_000, 0.01, 228]) place.sandbox.putPrice('AAPL', price);
    expect(await fresh.positions()).toHaveLength(1);
  });

  test('counts its profit in dollars, whatever currency it trades in', async () => {
    await using place = await openSandbox();
    const fresh = place.as(FRESH);
    place.sandbox.putPrice('USDJPY', 150);
    await fresh.order({ symbol: 'USDJPY', amount: 15_000 });
    place.sandbox.putPrice('USDJPY', 151);
    expect(await fresh.positions()).toEqual([
      expect.objectContaining({ invested: 500, profit: 99.34, rateProfit: 0.006623 }),
    ]);
  });
});
