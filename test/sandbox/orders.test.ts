import { expect, test } from 'vitest';
import { errorBody } from '../../src/gateway/operations/conventions.ts';
import { MARKET_ORDER } from '../../src/gateway/operations/open-position.ts';
import { SUBMITTED } from '../../src/gateway/operations/submitted.ts';
import { orderBody } from '../support/ask-gateway.ts';
import { openSandbox } from './sandbox-client.ts';

const { names: NAMES } = MARKET_ORDER;

test.each([
  ['an unknown symbol', { symbol: 'NO.SUCH' }, 'UNKNOWN_SYMBOL'],
  ['a symbol of Object.prototype', { symbol: '__proto__' }, 'UNKNOWN_SYMBOL'],
  ['an instrument of another group', { symbol: 'VIX' }, 'UNKNOWN_SYMBOL'],
  ['a closed market', { symbol: 'USDTRY' }, 'MARKET_CLOSED'],
  ['part of a step', { amount: 1.005 }, 'INVALID_VOLUME'],
  ['more than the largest size', { amount: 10_001 }, 'INVALID_VOLUME'],
  ['more than there is money for', { amount: 9_000 }, 'NOT_ENOUGH_MONEY'],
  ['a stop-loss above the price of a buy', { sl: 1_000 }, 'INVALID_STOPS'],
  ['a stop-loss below the price of a sell', { direction: 'sell', sl: 1 }, 'INVALID_STOPS'],
  ['a trigger price of 0', { price: 0 }, 'INVALID_PRICE'],
] as const)(
  'an order with %s is answered with 200 and success false',
  async (_what, change, error) => {
    await using place = await openSandbox();
    const answer = await place.as('fresh@example.com').outcome(change);
    expect(answer.status).toBe(200);
    const message = expect.any(String);
    const refusal = SUBMITTED.toWire({ success: false, orderId: '', error, message });
    expect(answer.body).toStrictEqual(refusal);
    expect(place.sandbox.orders()).toEqual([]);
  },
);

test('a malformed order is answered with 400 and the name of the field', async () => {
  await using place = await openSandbox();
  const fresh = place.as('fresh@example.com');
  for (const [field, change] of [
    ['symbol', { symbol: 5 }],
    ['direction', { direction: 'long' }],
    ['type', { type: 'lots' }],
    ['amount', { amount: '1' }],
    ['price', { price: -5 }],
    ['sl', { sl: 'low' }],
    ['tp', { tp: -1 }],
    ['slAmount', { type: 'amount', slAmount: 5, sl: 1 }],
    ['tpAmount', { type: 'amount', tpAmount: -5 }],
    ['comment', { comment: 'x'.repeat(1_001) }],
  ] as const) {
    const { status, body } = await fresh.ask('openPosition', {
      ...orderBody(),
      ...MARKET_ORDER.toWire(change as never),
    });
    const message = expect.stringMatching(`^${NAMES[field]} `);
    expect([status, body]).toEqual([
      400,
      errorBody('submit', { error: 'VALIDATION_FAILED', message, details: expect.any(Object) }),
    ]);
  }
});

test('the field for buy and sell may have another name', async () => {
  await using place = await openSandbox({ directionField: 'side' });
  const fresh = place.as('fresh@example.com');
  expect((await fresh.ask('openPosition', orderBody())).status).toBe(400);
  const { direction: side, ...rest } = orderBody();
  expect((await fresh.ask('openPosition', { ...rest, side })).status).toBeLessThan(300);
});
