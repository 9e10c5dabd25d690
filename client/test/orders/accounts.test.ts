import { expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { startedForEach } from '../../../test/support/started.ts';
import { ACCEPTED, buying, startPhone, unknown, unsent } from '../support/phone.ts';

const phone = startedForEach(startPhone);

test('a user does not see, ask for or repeat the orders of another one on the same phone', async () => {
  const app = phone.open();
  const { orders, sent } = app;
  const input = buying('mine');
  const ticket = await phone.interrupt(input, 'lost', app);
  phone.signIn('pro@example.com');
  const before = sent.length;
  expect(await orders.resume()).toEqual([]);
  expect(await ticket.place(input)).toMatchObject(unknown('SIGNED_OUT'));
  expect(sent).toHaveLength(before);
  expect(phone.app.sandbox.orders()).toEqual([]);
  phone.signIn('demo@example.com');
  expect(await orders.resume()).toMatchObject([{ outcome: { status: 'notFound' }, age: 'fresh' }]);
  expect(await ticket.place(input)).toMatchObject(ACCEPTED);
  expect(phone.app.sandbox.orders()).toMatchObject([{ login: 700001 }]);
});

test('nothing is sent where the user changes while the key is being stored', async () => {
  phone.storage.after = (step) => {
    if (step === 'set') phone.signIn('pro@example.com');
  };
  const { orders, sent } = phone.open();
  expect(await orders.ticket().place(buying('whose'))).toMatchObject(unsent('SIGNED_OUT'));
  expect(sent).toEqual([]);
  expect(phone.storage.entries.size).toBe(0);
});

test('nothing more is sent where the user changes between two attempts', async () => {
  const { orders, sent } = phone.open();
  phone.line.next.push(...Array(5).fill('lost'));
  const placing = orders.ticket().place(buying('between'));
  await eventually(() => phone.line.orders === 1);
  phone.signIn('pro@example.com');
  expect(await placing).toMatchObject(unknown('SIGNED_OUT'));
  expect(sent).toHaveLength(1);
  expect([...phone.storage.entries.keys()]).toEqual([expect.stringContaining('orders/700001/')]);
});

test('an order that is too late to be sent is not asked about under another account', async () => {
  const app = phone.open();
  const ticket = await phone.interrupt(buying('late'), 'lost', app);
  phone.clockMs = 25 * 3_600_000;
  phone.signIn('pro@example.com');
  const before = app.sent.length;
  // The other account has no such key, which would read as an order that never arrived.
  expect(await ticket.place(buying('late'))).toMatchObject(unknown('SIGNED_OUT'));
  expect(app.sent).toHaveLength(before);
});

test('nothing is sent where nobody is signed in', async () => {
  phone.token = null;
  const { orders } = phone.open();
  const ticket = orders.ticket();
  expect(await ticket.place(buying('nobody'))).toMatchObject(unsent('SIGNED_OUT'));
  await expect(orders.resume()).rejects.toMatchObject({ code: 'SIGNED_OUT' });
  phone.signIn('demo@example.com');
  expect(await ticket.place(buying('nobody'))).toMatchObject(ACCEPTED);
});

test('an account whose login begins with another login has keys of its own', async () => {
  phone.storage.entries.set('orders/7000011/key', JSON.stringify({ digest: 'd', at: Date.now() }));
  phone.storage.entries.set('orders/70000/key', JSON.stringify({ digest: 'd', at: Date.now() }));
  expect(await phone.open().orders.resume()).toEqual([]);
});
