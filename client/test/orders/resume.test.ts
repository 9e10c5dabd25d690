import { expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { startedForEach } from '../../../test/support/started.ts';
import { canonicalInput } from '../../src/orders/canonical-input.ts';
import { digestOf } from '../../src/orders/digest.ts';
import { ACCEPTED, buying, startPhone, unknown, unsent } from '../support/phone.ts';

const phone = startedForEach(startPhone);

test('after a restart each order without an outcome is found again, and none is sent', async () => {
  await phone.interrupt(buying('accepted'), 'answer-lost');
  await phone.interrupt(buying('rejected', 'TEST.REJECT'), 'answer-lost');
  await phone.interrupt(buying('unknown', 'TEST.UNKNOWN'), 'answer-lost');
  await phone.interrupt(buying('lost'), 'lost');
  const calls = phone.app.sandbox.calls('openPosition');
  const again = phone.open();
  const resumed = await again.orders.resume();
  expect(resumed.map(({ outcome }) => outcome.status)).toEqual([
    'accepted',
    'rejected',
    'unknown',
    'notFound',
  ]);
  expect(resumed.every(({ age, placedAt }) => age === 'fresh' && placedAt !== null)).toBe(true);
  expect(phone.app.sandbox.calls('openPosition')).toBe(calls);
  const left = await phone.open().orders.resume();
  expect(left.map(({ outcome }) => outcome.status)).toEqual(['unknown', 'notFound']);
  for (const one of left) await one.forget();
  expect(phone.storage.entries.size).toBe(0);
});

test('a resumed order is placed under its own key, with the same input alone', async () => {
  const { idempotencyKey } = await phone.interrupt(buying('form'), 'lost');
  const [resumed] = await phone.open().orders.resume();
  expect(await resumed?.ticket.place(buying('another form'))).toMatchObject(
    unsent('BAD_USER_INPUT'),
  );
  expect(await resumed?.ticket.place(buying('form'))).toMatchObject({
    status: 'accepted',
    idempotencyKey,
  });
  expect(phone.app.sandbox.orders()).toHaveLength(1);
  expect(phone.storage.entries.size).toBe(0);
});

test('an app that was updated to say the kind finds its order again', async () => {
  const input = buying('updated');
  const { idempotencyKey } = await phone.interrupt(input, 'answer-lost');
  // The digest as an app has stored it that knew no kinds.
  const before = digestOf(`${idempotencyKey} order ${canonicalInput(input)}`);
  expect([...phone.storage.entries.values()].join()).toContain(before);
  const [resumed] = await phone.open().orders.resume();
  const again = await resumed?.ticket.place({ ...input, kind: 'MARKET' });
  expect(again).toMatchObject({ status: 'accepted', idempotencyKey });
  expect(phone.app.sandbox.orders()).toHaveLength(1);
});

test('two tabs that resume at once both learn the outcome', async () => {
  for (const name of ['one', 'two', 'three']) {
    await phone.interrupt(buying(name), 'answer-lost');
  }
  const tabs = [phone.open(), phone.open(), phone.open()];
  const told = await Promise.all(tabs.map(({ orders }) => orders.resume()));
  for (const resumed of told) {
    expect(resumed.length).toBeLessThanOrEqual(3);
    expect(resumed.every(({ outcome }) => outcome.status === 'accepted')).toBe(true);
  }
  expect(told[0]).toHaveLength(3);
  expect(phone.storage.entries.size).toBe(0);
  expect(phone.app.sandbox.orders()).toHaveLength(3);
});

test('a tab that resumes while another one places does not disturb it', async () => {
  phone.app.sandbox.fail({ operation: 'openPosition', kind: 'delay', delayMs: 400 });
  const [placing, resuming] = [phone.open(), phone.open()];
  const outcome = placing.orders.ticket().place(buying('under way'));
  await eventually(() => expect(phone.app.sandbox.calls('openPosition')).toBe(1));
  expect(await placing.orders.resume()).toEqual([]);
  expect(await resuming.orders.resume()).toMatchObject([{ outcome: ACCEPTED }]);
  expect(await outcome).toMatchObject({ status: 'accepted', replayed: false });
  expect(phone.app.sandbox.orders()).toHaveLength(1);
});

test('two tabs that place a resumed order at once place it once', async () => {
  await phone.interrupt(buying('both'), 'lost');
  const resumed = await Promise.all([phone.open().orders.resume(), phone.open().orders.resume()]);
  const outcomes = await Promise.all(resumed.map(([order]) => order?.ticket.place(buying('both'))));
  expect(outcomes).toMatchObject([ACCEPTED, ACCEPTED]);
  expect(phone.app.sandbox.orders()).toHaveLength(1);
});

test('an order that cannot be asked about is reported as unanswered, and stays', async () => {
  await phone.interrupt(buying('unanswered'), 'answer-lost');
  // The question is asked again a few times.
  phone.line.next.push(...Array(100).fill('lost'));
  const { orders } = phone.open();
  expect(await orders.resume()).toMatchObject([
    { outcome: { status: 'unanswered', error: { code: 'NETWORK' } } },
  ]);
  phone.line.next.length = 0;
  expect(await orders.resume()).toMatchObject([{ outcome: ACCEPTED }]);
});

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
  await eventually(() => expect(phone.line.orders).toBe(1));
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
