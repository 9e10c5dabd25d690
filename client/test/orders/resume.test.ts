import { expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { startedForEach } from '../../../test/support/started.ts';
import { ACCEPTED, buying, startPhone, unknown, unsent } from '../support/phone.ts';

const phone = startedForEach(startPhone);

test('a storage that returns no list of keys counts as failed', async () => {
  const { orders } = phone.open({ storage: { ...phone.storage, keys: async () => null as never } });
  await expect(orders.resume()).rejects.toMatchObject({ code: 'STORAGE' });
});

test('tabs that resume at the same time all get the outcomes', async () => {
  for (const name of ['one', 'two', 'three']) {
    await phone.interrupt(buying(name), 'answer-lost');
  }
  const tabs = [phone.open(), phone.open(), phone.open()];
  const results = await Promise.all(tabs.map(({ orders }) => orders.resume()));
  for (const resumed of results) {
    // A tab can find that another tab has already deleted an entry.
    expect(resumed.length).toBeLessThanOrEqual(3);
    expect(resumed.every(({ outcome }) => outcome.status === 'accepted')).toBe(true);
  }
  expect(results[0]).toHaveLength(3);
  await phone.forgotten();
  expect(phone.app.sandbox.orders()).toHaveLength(3);
});

test('a tab that resumes does not disturb an order that another tab is placing', async () => {
  phone.app.sandbox.fail({ operation: 'openPosition', kind: 'delay', delayMs: 400 });
  const [placing, resuming] = [phone.open(), phone.open()];
  const outcome = placing.orders.ticket().place(buying('under way'));
  await eventually(() => expect(phone.app.sandbox.calls('openPosition')).toBe(1));
  expect(await placing.orders.resume()).toEqual([]);
  expect(await resuming.orders.resume()).toMatchObject([{ outcome: ACCEPTED }]);
  expect(await outcome).toMatchObject({ status: 'accepted', replayed: false });
  expect(phone.app.sandbox.orders()).toHaveLength(1);
});

test('a tab that resumes tells the outcome of an order that another tab mends meanwhile', async () => {
  const [mending, resuming] = [await phone.openKnown(), await phone.openKnown()];
  const ticket = mending.orders.ticket();
  const mistaken = { ...buying('mended'), size: { units: -1 } };
  expect(await ticket.place(mistaken)).toMatchObject(unsent('BAD_USER_INPUT'));
  const { promise: isRead, resolve } = Promise.withResolvers<void>();
  phone.storage.after = (step) => {
    if (step === 'get') resolve();
  };
  const resumed = resuming.orders.resume();
  await isRead;
  expect(await ticket.place(buying('mended'))).toMatchObject(ACCEPTED);
  expect(await resumed).toMatchObject([{ outcome: ACCEPTED }]);
});

test('an account whose login begins with another login has keys of its own', async () => {
  // The login of the signed-in user is 700001.
  phone.storage.entries.set('orders/7000011/key', JSON.stringify({ digest: 'd', at: Date.now() }));
  phone.storage.entries.set('orders/70000/key', JSON.stringify({ digest: 'd', at: Date.now() }));
  expect(await phone.open().orders.resume()).toEqual([]);
});

test('an order under way when the client is disposed is unknown, and no timer is left', async () => {
  const { orders, core, sent, timers } = phone.open();
  phone.app.sandbox.fail({ operation: 'openPosition', kind: 'delay', delayMs: 500 });
  const placing = orders.ticket().place(buying('disposed'));
  await eventually(() => expect(sent).toHaveLength(1));
  core.dispose();
  expect(await placing).toMatchObject(unknown('DISPOSED'));
  expect(timers.size).toBe(0);
  expect(phone.storage.entries.size).toBe(1);
  expect(await orders.ticket().place(buying('after'))).toMatchObject(unsent('DISPOSED'));
  expect(timers.size).toBe(0);
});
