import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalInput } from '../../src/orders/canonical-input.ts';
import { digestOf } from '../../src/orders/digest.ts';

const value = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.string(),
  fc.constantFrom(undefined),
);
const input = fc.dictionary(
  fc.string().filter((name) => name !== '__proto__' && name !== 'idempotencyKey'),
  fc.oneof(value, fc.dictionary(fc.constantFrom('units', 'amount', 'price'), value)),
);

test('the order of fields, and fields that are left out, make no difference', () => {
  fc.assert(
    fc.property(input, (given) => {
      const reversed = Object.fromEntries(Object.entries(given).reverse());
      expect(canonicalInput({ ...reversed, comment: given.comment ?? null, out: undefined })).toBe(
        canonicalInput(given),
      );
    }),
  );
});

test('a null is none for a comment, and for the price of an order at the market', () => {
  const market = { symbol: 'AAPL', kind: 'MARKET' };
  expect(canonicalInput({ ...market, price: null, comment: null })).toBe(canonicalInput(market));
  expect(canonicalInput({ kind: null })).toBe('{}');
  for (const input of [
    { price: null },
    { kind: 'PENDING', price: null },
    { ...market, stopLoss: null },
    { ...market, stopLoss: { price: null } },
  ]) {
    expect(() => canonicalInput(input)).toThrow('must not be null: leave it out for none');
  }
});

test('what is sent is what was given', () => {
  fc.assert(
    fc.property(input, (given) => {
      const plain = JSON.parse(JSON.stringify(given), (_, one) => one ?? undefined);
      expect(JSON.parse(canonicalInput(given))).toEqual(plain);
    }),
  );
});

test('other texts have other digests', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (one, other) => {
      expect(digestOf(one) === digestOf(other)).toBe(one === other);
    }),
  );
});
