import { expect, test } from 'vitest';
import { accountClient, addressClient, type Client } from '../../../src/lib/limits/client.ts';
import { Slot } from '../../../src/lib/limits/slot.ts';
import { accountNamed } from '../../support/accounts.ts';
import { createTestLimiter, DEFAULT_LIMITS } from '../../support/limits.ts';

const ADDRESS = addressClient('192.0.2.1');
const ACCOUNT = accountClient(accountNamed('1'));

/** A limiter with two slots for each address and each account. */
function createFixture() {
  const connections = { ...DEFAULT_LIMITS.connections, max: { account: 2, address: 2 } };
  const limiter = createTestLimiter({ connections });
  const owner: { is: Client } = { is: ADDRESS };
  return {
    owner,
    take: () => Slot.take(limiter, 'connections', () => ADDRESS),
    /** Takes a slot whose owner may change. */
    takeOpen: () => Slot.take(limiter, 'connections', () => owner.is),
    left: (of: Client) => limiter.take('connections', of, 0).left,
  };
}

test('a client may take slots up to its limit, and releasing one twice frees one', () => {
  const { take, left } = createFixture();
  const first = take();
  expect(take()).not.toBeNull();
  expect(take()).toBeNull();
  first?.release();
  first?.release();
  expect(left(ADDRESS)).toBe(1);
});

test('a slot is charged to the account once that is proved, and released there', () => {
  const { takeOpen, owner, left } = createFixture();
  const slot = takeOpen();
  owner.is = ACCOUNT;
  expect(slot?.settle()).toBe(true);
  expect([left(ADDRESS), left(ACCOUNT)]).toEqual([2, 1]);
  expect(slot?.settle()).toBe(true);
  slot?.release();
  expect([left(ADDRESS), left(ACCOUNT)]).toEqual([2, 2]);
  expect(slot?.settle()).toBe(true);
  expect(left(ACCOUNT)).toBe(2);
});

test('a slot returns to the address when its token ends, even if the address has none left', () => {
  const { take, takeOpen, owner, left } = createFixture();
  owner.is = ACCOUNT;
  const slots = [takeOpen(), takeOpen()];
  take();
  take();
  owner.is = ADDRESS;
  for (const slot of slots) slot?.settle();
  expect([left(ADDRESS), left(ACCOUNT)]).toEqual([-2, 2]);
  for (const slot of slots) slot?.release();
  expect(left(ADDRESS)).toBe(0);
});
