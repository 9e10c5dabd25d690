import { expect, test } from 'vitest';
import type { ClientKey } from '../../../src/domain/auth/client-key.ts';
import { SubscriptionSlots } from '../../../src/plugins/limits/use-subscription-limit.ts';

const account: ClientKey = { kind: 'account', key: 'account 1' };
const claim: ClientKey = { kind: 'claim at address', key: 'claim 1 at 192.0.2.1' };
const address: ClientKey = { kind: 'address', key: 'address 192.0.2.1' };

const MOST = { perAccount: 2, perAddress: 3 };

test.each([
  [account, 2],
  [claim, 2],
  [address, 3],
] as const)('$kind has so many subscriptions, until one gives its slot back', (client, most) => {
  const slots = new SubscriptionSlots(MOST);
  const taken = Array.from({ length: most }, () => slots.take(client));
  expect(taken).not.toContain(null);
  expect(slots.isFull(client)).toBe(true);
  expect(slots.take(client)).toBeNull();
  taken[0]?.release();
  expect(slots.isFull(client)).toBe(false);
  expect(slots.take(client)).not.toBeNull();
  expect(slots.take(client)).toBeNull();
});

test('another client has slots of its own', () => {
  const slots = new SubscriptionSlots(MOST);
  for (let at = 0; at < 3; at += 1) slots.take(address);
  expect(slots.isFull(account)).toBe(false);
  expect(slots.isFull({ ...address, key: 'address 192.0.2.2' })).toBe(false);
});

test('a client that disconnects releases its slot, once', () => {
  const slots = new SubscriptionSlots(MOST);
  const controller = new AbortController();
  const slot = slots.take(account, controller.signal);
  slots.take(account);
  controller.abort();
  slot?.release();
  expect(slots.isFull(account)).toBe(false);
  slots.take(account);
  expect(slots.isFull(account)).toBe(true);
  slots.take(address, AbortSignal.abort());
  for (let at = 0; at < 3; at += 1) expect(slots.take(address)).not.toBeNull();
});

test('a subscription counts for its account once that is proved, and is refused where it is full', () => {
  const slots = new SubscriptionSlots(MOST);
  const started = [1, 2, 3].map(() => slots.take(address));
  expect(slots.isFull(address)).toBe(true);
  expect(started.map((slot) => slot?.moveTo(account))).toEqual([true, true, false]);
  expect(slots.isFull(account)).toBe(true);
  started[2]?.release();
  for (let at = 0; at < 3; at += 1) expect(slots.take(address)).not.toBeNull();
  started[0]?.release();
  expect(slots.take(account)).not.toBeNull();
});

test('a client that left while it was proved holds no slot of its account', () => {
  const slots = new SubscriptionSlots(MOST);
  const controller = new AbortController();
  const slot = slots.take(address, controller.signal);
  controller.abort();
  expect(slot?.moveTo(account)).toBe(true);
  for (let at = 0; at < 2; at += 1) expect(slots.take(account)).not.toBeNull();
});
