import { describe, expect, test } from 'vitest';
import { InputError } from '../../../src/domain/input-error.ts';
import {
  canonical,
  limitTicket,
  marketTicket,
  type PlaceLimitOrderInput,
  type PlaceOrderInput,
} from '../../../src/domain/trading/ticket.ts';

const market: PlaceOrderInput = {
  symbol: 'AAPL',
  side: 'BUY',
  size: { units: 2 },
  idempotencyKey: 'key-1',
};
const limit: PlaceLimitOrderInput = {
  symbol: 'AAPL',
  side: 'SELL',
  amount: 100,
  price: 12.5,
  idempotencyKey: 'key-1',
};

/** The path that a ticket is refused for; null where it is valid. Inputs are as loosely typed as a script's. */
function refused(make: () => unknown): string | null {
  try {
    make();
    return null;
  } catch (error) {
    if (error instanceof InputError) return error.argument;
    throw error;
  }
}
const marketWith = (change: object) => refused(() => marketTicket({ ...market, ...change }));
const limitWith = (change: object) => refused(() => limitTicket({ ...limit, ...change }));

describe('the ticket of a market order', () => {
  test('accepts a protection of 0 and refuses a negative one', () => {
    expect(marketWith({ stopLoss: { price: 0 }, takeProfit: { price: 3 } })).toBe(null);
    expect(marketWith({ stopLoss: { price: -0.01 } })).toBe('input.stopLoss.price');
    expect(marketWith({ takeProfit: { price: Number.NaN } })).toBe('input.takeProfit.price');
    expect(marketWith({ takeProfit: {} })).toBe('input.takeProfit');
    expect(marketWith({ takeProfit: { price: 1, amount: 1 } })).toBe('input.takeProfit');
  });

  test('accepts a protection amount only with an amount size', () => {
    expect(marketWith({ stopLoss: { amount: 5 } })).toBe('input.stopLoss.amount');
    expect(marketWith({ takeProfit: { amount: 5 } })).toBe('input.takeProfit.amount');
    expect(marketWith({ size: { amount: 9 }, stopLoss: { amount: 5 } })).toBe(null);
    expect(marketWith({ size: { amount: 9 }, stopLoss: { amount: -5 } })).toBe(
      'input.stopLoss.amount',
    );
  });
});

test('a key has 1 to 255 characters, counted as code points', () => {
  expect(marketWith({ idempotencyKey: '' })).toBe('input.idempotencyKey');
  expect(marketWith({ idempotencyKey: 'k'.repeat(255) })).toBe(null);
  expect(marketWith({ idempotencyKey: 'k'.repeat(256) })).toBe('input.idempotencyKey');
  expect(marketWith({ idempotencyKey: '🔑'.repeat(255) })).toBe(null);
  expect(marketWith({ idempotencyKey: '🔑'.repeat(256) })).toBe('input.idempotencyKey');
  expect(limitWith({ idempotencyKey: undefined })).toBe('input.idempotencyKey');
  expect(limitWith({ idempotencyKey: '\ud800' })).toBe('input.idempotencyKey');
});

describe('the canonical form', () => {
  const of = (change: object) => canonical(marketTicket({ ...market, ...change }));

  test('is equal for equal orders, however they were written', () => {
    expect(of({ size: { units: 2.0 } })).toBe(of({}));
    expect(of({ price: undefined, comment: null, stopLoss: undefined })).toBe(of({}));
    expect(of({ kind: 'MARKET', price: null })).toBe(of({}));
    expect(of({ kind: 'PENDING', price: 1 })).toBe(of({ price: 1 }));
    expect(of({ stopLoss: { price: -0 } })).toBe(of({ stopLoss: { price: 0 } }));
    expect(of({ idempotencyKey: 'another' })).toBe(of({}));
  });

  test('differs with anything that the gateway would receive', () => {
    const changes = [
      {},
      { symbol: 'MSFT' },
      { side: 'SELL' },
      { size: { units: 2.000001 } },
      { size: { amount: 2 } },
      { price: 2 },
      { stopLoss: { price: 2 } },
      { takeProfit: { price: 2 } },
      { stopLoss: { price: 0 } },
      { size: { amount: 2 }, stopLoss: { amount: 2 } },
      { size: { amount: 2 }, stopLoss: { price: 2 } },
      { comment: '' },
      { comment: 'null' },
    ];
    expect(new Set(changes.map(of)).size).toBe(changes.length);
  });

  test('differs with the levels of a limit order', () => {
    const limitOf = (change: object) => canonical(limitTicket({ ...limit, ...change }));
    const forms = [{}, { stopLoss: 0 }, { stopLoss: 1 }, { stopLoss: 2 }, { takeProfit: 1 }];
    expect(new Set(forms.map(limitOf)).size).toBe(forms.length);
  });

  test('differs between the two operations', () => {
    const { side, symbol, price, amount } = limit;
    const other = marketTicket({ ...market, side, symbol, price, size: { amount } });
    expect(canonical(other)).not.toBe(canonical(limitTicket(limit)));
  });
});
