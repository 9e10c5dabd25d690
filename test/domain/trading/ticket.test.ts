import { describe, expect, test } from 'vitest';
import {
  inputDigest,
  limitTicket,
  marketTicket,
  type PlaceLimitOrderInput,
  type PlaceOrderInput,
} from '../../../src/domain/trading/ticket.ts';
import { keyOf } from '../../support/order-keys.ts';

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
