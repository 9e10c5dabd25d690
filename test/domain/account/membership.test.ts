import { expect, test } from 'vitest';
import { digestOf, Membership } from '../../../src/domain/account/membership.ts';

const saw = (membership: Membership, scope: string, logicalTime: number, ...ids: string[]) =>
  membership.saw(scope, { logicalTime }, digestOf(ids));

const contradicts = (
  membership: Membership,
  scope: string,
  logicalTime: number,
  ...ids: string[]
) => membership.contradicts(scope, logicalTime, digestOf(ids));

test.each([
  ['the same positions', ['a', 'b'], false],
  ['the same in another order', ['b', 'a'], false],
  ['one more', ['a', 'b', 'c'], true],
  ['one less', ['a'], true],
  ['another one', ['a', 'c'], true],
  ['others alone', ['c', 'd'], true],
  ['none', [], true],
])('a list sent before the last one was, with %s', (_, ids, isContradicted) => {
  const membership = new Membership();
  saw(membership, 'x', 7, 'a', 'b');
  expect(contradicts(membership, 'x', 6, ...ids)).toBe(isContradicted);
  // The list sent later is the newer one, and another account has none.
  expect(contradicts(membership, 'x', 8, ...ids)).toBe(false);
  expect(contradicts(membership, 'x', 7, ...ids)).toBe(false);
  expect(contradicts(membership, 'y', 6, ...ids)).toBe(false);
});

test('the list sent last counts, not the one received last', () => {
  const membership = new Membership();
  saw(membership, 'x', 3, 'a');
  saw(membership, 'x', 5, 'a', 'b');
  saw(membership, 'x', 4, 'a');
  expect(contradicts(membership, 'x', 4, 'a')).toBe(true);
  expect(contradicts(membership, 'x', 4, 'a', 'b')).toBe(false);
});

test('a list that is forgotten makes all older snapshots doubtful, and no newer one', () => {
  const membership = new Membership();
  for (let account = 0; account <= 100_000; account += 1) {
    saw(membership, `account ${account}`, 10 + account, 'a');
  }
  expect(membership.byteSize).toBeLessThanOrEqual(14_500_000);
  expect(contradicts(membership, 'account 0', 9, 'a')).toBe(true);
  expect(contradicts(membership, 'account 0', 10, 'a')).toBe(false);
  expect(contradicts(membership, 'account 99999', 9, 'a')).toBe(false);
});
