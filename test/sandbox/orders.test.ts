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

  test('an instrument whose market a test has closed', async () => {
    await using place = await openSandbox();
    const fresh = place.as('fresh@example.com');
    expect(place.sandbox.setOpen('AAPL', false)).toBe(true);
    expect((await fresh.post(PATH, FINE)).body).toMatchObject({ err: 'MARKET_CLOSED' });
    place.sandbox.setOpen('AAPL', true);
    expect((await fresh.post(PATH, FINE)).body).toMatchObject({ success: true });
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

  test.each(['1e999', '-1e999'])('a number beyond all numbers: %s', async (huge) => {
    await using place = await openSandbox();
    const body = `{"symbol":"AAPL","direction":"buy","type":"unit","amount":${huge}}`;
    const answer = await place.as('fresh@example.com').post(PATH, body);
    expect(answer.status).toBe(400);
  });

  test('op 5 without a price', async () => {
    await using place = await openSandbox();
    const order = { symbol: 'AAPL', direction: 'buy', amount: 100 };
    const answer = await place.as('fresh@example.com').post('/trading/positions/limit', order);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ message: 'price is required' });
  });
});

test('the field for buy and sell may have another name', async () => {
  await using place = await openSandbox({ directionField: 'side' });
  const fresh = place.as('fresh@example.com');
  expect((await fresh.post(PATH, FINE)).status).toBe(400);
  const { direction: side, ...rest } = FINE;
  expect((await fresh.post(PATH, { ...rest, side })).body).toMatchObject({ success: true });
});

test('the ledger holds every order that was applied, in order, with its comment', async () => {
  await using place = await openSandbox();
  const fresh = place.as('fresh@example.com');
  place.sandbox.putPrice('AAPL', 200);
  const first = await fresh.order({ comment: 'key-1' });
  await fresh.post(PATH, { ...FINE, symbol: 'NO.SUCH' });
  const second = await fresh.order({ price: 150, comment: 'key-2' });
  const own = { login: 700003, symbol: 'AAPL', isBuy: true, units: 1 };
  expect(place.sandbox.orders()).toEqual([
    expect.objectContaining({ ...own, orderId: first, became: 'position', comment: 'key-1' }),
    expect.objectContaining({ ...own, orderId: second, became: 'pending', comment: 'key-2' }),
  ]);
});

describe('the test instruments always behave so', () => {
  const order = (symbol: string) => ({ ...FINE, symbol });

  test('TEST.REJECT refuses', async () => {
    await using place = await openSandbox();
    const answer = await place.as('fresh@example.com').post(PATH, order('TEST.REJECT'));
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ success: false, err: 'TEST_REJECT' });
    expect(place.sandbox.orders()).toEqual([]);
  });

  test('TEST.UNKNOWN applies the order and loses the answer', async () => {
    await using place = await openSandbox();
    const fresh = place.as('fresh@example.com');
    await expect(fresh.post(PATH, order('TEST.UNKNOWN'))).rejects.toThrow('fetch failed');
    expect(await fresh.positions()).toEqual([expect.objectContaining({ symbol: 'TEST.UNKNOWN' })]);
  });

  test('TEST.EMPTY answers an empty object and applies nothing', async () => {
    await using place = await openSandbox();
    const answer = await place.as('fresh@example.com').post(PATH, order('TEST.EMPTY'));
    expect([answer.status, answer.text]).toEqual([200, '{}']);
    expect(place.sandbox.orders()).toEqual([]);
  });

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

  test('TEST.SLOW is forgotten by a reset before its time is over', async () => {
    await using place = await openSandbox({ slowMs: 20_000 });
    const answer = place.as('fresh@example.com').post(PATH, order('TEST.SLOW'));
    await expect.poll(() => place.clock.pending).toBe(1);
    place.sandbox.reset();
    await place.clock.advance(20_000);
    expect((await answer).body).toMatchObject({ success: true });
    expect(place.sandbox.orders()).toEqual([]);
  });

  test('they are in the catalog of each group, and first', async () => {
    await using place = await openSandbox({ instruments: 1 });
    for (const [email, group] of [
      ['demo@example.com', 'standard-usd'],
      ['pro@example.com', 'pro-usd'],
      ['swapfree@example.com', 'retail%5Cswap-free%20usd'],
    ] as const) {
      const { body } = await place.as(email).get(`/trading/tickers/${group}`);
      const symbols = (body as { _id: string }[]).slice(0, 4).map(({ _id }) => _id);
      expect(symbols).toEqual(['TEST.REJECT', 'TEST.UNKNOWN', 'TEST.SLOW', 'TEST.EMPTY']);
    }
  });
});
