import { describe, expect, test } from 'vitest';
import {
  inputDigest,
  limitTicket,
  marketTicket,
  type PlaceLimitOrderInput,
  type PlaceOrderInput,
} from '../../../src/domain/trading/ticket.ts';
import { InputError } from '../../../src/lib/public-error.ts';
import { keyOf, PLAIN_KEYS } from '../../support/order-keys.ts';

const market: PlaceOrderInput = {
  symbol: 'AAPL',
  side: 'BUY',
  kind: 'MARKET',
  size: { units: 2 },
  idempotencyKey: keyOf('k'),
};
const limit: PlaceLimitOrderInput = {
  symbol: 'AAPL',
  side: 'SELL',
  amount: 100,
  price: 12.5,
  idempotencyKey: keyOf('k'),
};

/** Returns the argument for which a ticket is refused; `none` if it is accepted. */
function refusedArgument(make: () => unknown): string {
  try {
    make();
    return 'none';
  } catch (error) {
    if (error instanceof InputError) return error.argument;
    throw error;
  }
}

// The inputs are loosely typed, like those of a script.
test.each<[string, object, string]>([
  ['protections of 0 and more', { stopLoss: { price: 0 }, takeProfit: { price: 3 } }, 'none'],
  ['a negative protection', { stopLoss: { price: -0.01 } }, 'input.stopLoss.price'],
  ['a protection of two kinds', { takeProfit: { price: 1, amount: 1 } }, 'input.takeProfit'],
  ['a protection by amount alone', { stopLoss: { amount: 5 } }, 'input.stopLoss.amount'],
  ['size and protection by amount', { size: { amount: 9 }, stopLoss: { amount: 5 } }, 'none'],
  ['a line break in its symbol', { symbol: 'AAPL\n' }, 'input.symbol'],
  ['a control character in its symbol', { symbol: '\u0085AAPL' }, 'input.symbol'],
  ['a key in upper case', { idempotencyKey: keyOf('k').toUpperCase() }, 'none'],
  ...PLAIN_KEYS.map((key): [string, object, string] => [
    'a key without a time',
    { idempotencyKey: key },
    'input.idempotencyKey',
  ]),
])('of a ticket with %s (%o) the refused argument is %s', (_, change, argument) => {
  expect(refusedArgument(() => marketTicket({ ...market, ...change }))).toBe(argument);
});

describe('the digest of an order', () => {
  const marketDigest = (change: object) => inputDigest(marketTicket({ ...market, ...change }));

  test('is equal for equal orders in different notations', () => {
    const digest = marketDigest({});
    expect(marketDigest({ size: { units: 2.0 } })).toBe(digest);
    expect(marketDigest({ price: undefined, comment: null, stopLoss: undefined })).toBe(digest);
    expect(marketDigest({ price: null })).toBe(digest);
    expect(marketDigest({ idempotencyKey: keyOf('another') })).toBe(digest);
    const withZero = marketDigest({ stopLoss: { price: 0 } });
    expect(marketDigest({ stopLoss: { price: -0 } })).toBe(withZero);
  });

  test('differs with each value that the gateway receives', () => {
    const changes = [
      {},
      { symbol: 'MSFT' },
      { side: 'SELL' },
      { size: { units: 2.000001 } },
      { size: { amount: 2 } },
      { kind: 'PENDING', price: 2 },
      { stopLoss: { price: 2 } },
      { takeProfit: { price: 2 } },
      { stopLoss: { price: 0 } },
      { size: { amount: 2 }, stopLoss: { amount: 2 } },
      { size: { amount: 2 }, stopLoss: { price: 2 } },
      { comment: '' },
      { comment: 'null' },
    ];
    expect(new Set(changes.map(marketDigest)).size).toBe(changes.length);
  });

  test('differs with the levels of a limit order, and by operation', () => {
    const limitDigest = (change: object) => inputDigest(limitTicket({ ...limit, ...change }));
    const { side, symbol, price, amount } = limit;
    const levels = [{}, { stopLoss: 0 }, { stopLoss: 1 }, { stopLoss: 2 }, { takeProfit: 1 }];
    const otherOperation = { side, symbol, kind: 'PENDING', price, size: { amount } };
    const digests = [...levels.map(limitDigest), marketDigest(otherOperation)];
    expect(new Set(digests).size).toBe(digests.length);
  });
});
