import { describe, expect, test } from 'vitest';
import { openSandbox } from './sandbox-client.ts';

const PATH = '/trading/positions';
const FINE = { symbol: 'AAPL', direction: 'buy', type: 'unit', amount: 1 };

describe('a well-formed order that the desk will not take is 200 with success false', () => {
  test.each([
    ['an unknown symbol', { symbol: 'NO.SUCH' }, 'UNKNOWN_SYMBOL'],
    ['a symbol with a NUL in it', { symbol: 'AAPL\u0000' }, 'UNKNOWN_SYMBOL'],
    ['a symbol of Object.prototype', { symbol: '__proto__' }, 'UNKNOWN_SYMBOL'],
    ['an instrument of another group', { symbol: 'VIX' }, 'UNKNOWN_SYMBOL'],
    ['a closed market', { symbol: 'USDTRY' }, 'MARKET_CLOSED'],
    ['nothing', { amount: 0 }, 'INVALID_VOLUME'],
    ['less than the smallest size', { amount: 0.001 }, 'INVALID_VOLUME'],
    ['part of a step', { amount: 1.005 }, 'INVALID_VOLUME'],
    ['more than the largest size', { amount: 10_001 }, 'INVALID_VOLUME'],
    ['an absurd size', { amount: 1e300 }, 'INVALID_VOLUME'],
    ['money for less than a step', { type: 'amount', amount: 0.01 }, 'INVALID_VOLUME'],
    ['more than there is money for', { amount: 9_000 }, 'NOT_ENOUGH_MONEY'],
    ['a stop-loss above the price of a buy', { sl: 1_000 }, 'INVALID_STOPS'],
    ['a take-profit below the price of a buy', { tp: 1 }, 'INVALID_STOPS'],
    ['a stop-loss below the price of a sell', { direction: 'sell', sl: 1 }, 'INVALID_STOPS'],
    ['a trigger price of 0', { price: 0 }, 'INVALID_PRICE'],
  ])('%s', async (_what, change, err) => {
    await using place = await openSandbox();
    const answer = await place.as('fresh@example.com').post(PATH, { ...FINE, ...change });
    expect(answer.status).toBe(200);
    const refusal = { success: false, orderId: '', err, message: expect.any(String) };
    expect(answer.body).toStrictEqual(refusal);
    expect(place.sandbox.orders()).toEqual([]);
  });

  test('pending orders tie up money too', async () => {
    await using place = await openSandbox();
    const fresh = place.as('fresh@example.com');
    const half = { ...FINE, type: 'amount', amount: 5_500, price: 200 };
    expect((await fresh.post(PATH, half)).body).toMatchObject({ success: true });
    expect((await fresh.post(PATH, half)).body).toMatchObject({ err: 'NOT_ENOUGH_MONEY' });
  });
});

describe('a malformed order is 400 and names the field', () => {
  test.each([
    ['symbol', { symbol: 5 }],
    ['symbol', { symbol: '' }],
    ['direction', { direction: 'long' }],
    ['type', { type: 'lots' }],
    ['amount', { amount: '1' }],
    ['amount', { amount: -1 }],
    ['amount', { amount: null }],
    ['price', { price: -5 }],
    ['price', { price: null }],
    ['sl', { sl: 'low' }],
    ['tp', { tp: -1 }],
    ['slAmount', { slAmount: 5 }],
    ['slAmount', { type: 'amount', slAmount: 5, sl: 1 }],
    ['tpAmount', { type: 'amount', tpAmount: -5 }],
    ['comment', { comment: 7 }],
    ['comment', { comment: 'x'.repeat(1_001) }],
  ])('%s in %j', async (field, change) => {
    await using place = await openSandbox();
    const answer = await place.as('fresh@example.com').post(PATH, { ...FINE, ...change });
    expect(answer.status).toBe(400);
    expect(answer.body).toStrictEqual({
      success: false,
      err: 'VALIDATION_FAILED',
      message: expect.stringMatching(new RegExp(`^${field} `)),
    });
  });
});

test('the field for buy and sell may have another name', async () => {
  await using place = await openSandbox({ directionField: 'side' });
  const fresh = place.as('fresh@example.com');
  expect((await fresh.post(PATH, FINE)).status).toBe(400);
  const { direction: side, ...rest } = FINE;
  expect((await fresh.post(PATH, { ...rest, side })).body).toMatchObject({ success: true });
});

describe('the test instruments always behave so', () => {
  const order = (symbol: string) => ({ ...FINE, symbol });

  test('TEST.SLOW applies and answers when its time is over', async () => {
    await using place = await openSandbox({ slowMs: 20_000 });
    const fresh = place.as('fresh@example.com');
    const answer = fresh.post(PATH, order('TEST.SLOW'));
    await expect.poll(() => place.clock.pending).toBe(1);
    await place.clock.advance(19_999);
    expect(place.sandbox.orders()).toEqual([]);
    await place.clock.advance(1);
    expect((await answer).body).toMatchObject({ success: true });
    expect(place.sandbox.orders()).toHaveLength(1);
  });
});
