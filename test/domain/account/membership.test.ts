import { expect, test } from 'vitest';
import { Membership } from '../../../src/domain/account/membership.ts';
import { toPositions } from '../../../src/gateway/wire/holding.ts';

function positions(...ids: string[]) {
  return toPositions(
    ids.map((id) => ({ id, symbol: 'AAPL' })),
    'auto',
  ) as NonNullable<ReturnType<typeof toPositions>>;
}

function answer(sequence: number, ...ids: string[]) {
  const sent = { sequence, sentAtMs: 0, receivedAtMs: 0 };
  return { ...sent, positions: positions(...ids), bytes: Buffer.alloc(0) };
}

test.each([
  ['the same positions', ['a', 'b'], false],
  ['the same in another order', ['b', 'a'], false],
  ['one more', ['a', 'b', 'c'], true],
  ['one less', ['a'], true],
  ['another one', ['a', 'c'], true],
  ['others alone', ['c', 'd'], true],
  ['none', [], true],
])('a list sent before the last one was, with %s', (_, ids, contradicts) => {
  const membership = new Membership();
  membership.saw('x', answer(7, 'a', 'b'));
  expect(membership.contradicts('x', 6, positions(...ids))).toBe(contradicts);
  // The list sent later is the newer one, and another account has none.
  expect(membership.contradicts('x', 8, positions(...ids))).toBe(false);
  expect(membership.contradicts('x', 7, positions(...ids))).toBe(false);
  expect(membership.contradicts('y', 6, positions(...ids))).toBe(false);
});

test('the list sent last counts, not the one received last', () => {
  const membership = new Membership();
  membership.saw('x', answer(3, 'a'));
  membership.saw('x', answer(5, 'a', 'b'));
  membership.saw('x', answer(4, 'a'));
  expect(membership.contradicts('x', 4, positions('a'))).toBe(true);
  expect(membership.contradicts('x', 4, positions('a', 'b'))).toBe(false);
});

test('unchanged positions are confirmed at the later time', () => {
  const membership = new Membership();
  membership.saw('x', answer(3, 'a', 'b'));
  membership.saw('x', answer(9, 'a', 'b'));
  expect(membership.contradicts('x', 8, positions('a'))).toBe(true);
  membership.saw('x', answer(10, 'b', 'a'));
  expect(membership.contradicts('x', 9, positions('a', 'b'))).toBe(false);
});

test('what is remembered of accounts is bounded in bytes', () => {
  const membership = new Membership();
  const ids = Array.from({ length: 400 }, (_, at) => `position-${at}`);
  for (let account = 0; account < 2_000; account += 1) {
    membership.saw(`account ${account}`, answer(account, ...ids));
  }
  expect(membership.byteSize).toBeGreaterThan(3_000_000);
  expect(membership.byteSize).toBeLessThanOrEqual(4 * 1024 * 1024);
  // The accounts seen last are remembered.
  expect(membership.contradicts('account 1999', 1_998, positions('x'))).toBe(true);
  expect(membership.contradicts('account 0', -1, positions('x'))).toBe(false);
});
