import { expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { startedForEach } from '../../../test/support/started.ts';
import { createOrders } from '../../src/orders/create-orders.ts';
import type { MemoryStorage } from '../support/memory-storage.ts';
import { ACCEPTED, buying, minuteOf, startPhone, unsent } from '../support/phone.ts';

const phone = startedForEach(startPhone);

test('a key that is stored too late stays while its order is placed again', async () => {
  const storage = delayFirstWrite(phone.storage);
  const stored: number[] = [];
  const again = {
    ...storage,
    async set(key: string, text: string) {
      await storage.set(key, text);
      if (!phone.storage.entries.has(key)) return;
      await storage.release();
      // Leaves time for the deletion of the late key, which would remove this entry too.
      await phone.storage.keys('');
      await phone.storage.keys('');
      stored.push(phone.storage.entries.size);
    },
  };
  const { orders } = await phone.openKnown({ storage: again });
  const ticket = orders.ticket();
  expect(await ticket.place(buying('again'), { withinMs: 200 })).toMatchObject({
    status: 'unsent',
  });
  expect(await ticket.place(buying('again'))).toMatchObject(ACCEPTED);
  expect(stored[0]).toBe(1);
});

test.each([
  ['stays while its order is in doubt', 'answer-lost', 'unknown', 1],
  ['is deleted once its order has its outcome', 'none', 'accepted', 0],
] as const)('a key that is stored after its order was sent %s', async (_, fault, status, left) => {
  const storage = delayFirstWrite(phone.storage);
  // The order's time ends with its third request.
  const { environment, ticket, withinMs } = minuteOf(phone, 3);
  const { core } = phone.open({ storage }, environment);
  const orders = createOrders(core, { allowVolatile: true });
  phone.line.next.push(...Array(100).fill(fault));
  expect(await orders.ticket(ticket).place(buying('sent'), { withinMs })).toMatchObject({ status });
  await storage.release();
  // Leaves time for a deletion.
  await phone.storage.keys('');
  await phone.storage.keys('');
  expect(phone.storage.entries.size).toBe(left);
});

test.each(['failing', 'hanging'] as const)(
  'the outcome of a key that cannot be deleted is returned by `place`, and again by `resume` (%s)',
  async (fault) => {
    phone.storage[fault].add('delete');
    expect(await phone.open().orders.ticket().place(buying('stays'))).toMatchObject(ACCEPTED);
    const resumed = { outcome: ACCEPTED, settled: true };
    expect(await phone.open().orders.resume()).toMatchObject([resumed]);
    const { orders, sent } = phone.open();
    const [order] = await orders.resume();
    phone.storage[fault].clear();
    expect(order).toMatchObject(resumed);
    await order?.forget();
    expect([await orders.resume(), sent]).toEqual([[], []]);
    expect(phone.app.sandbox.orders()).toHaveLength(1);
  },
);

test.each([
  ['fails to be read', ({ failing }: MemoryStorage) => void failing.add('get')],
  [
    'is damaged',
    ({ entries }: MemoryStorage) => {
      for (const name of entries.keys()) entries.set(name, '{"at":"yesterday"');
    },
  ],
  [
    'has an outcome without its error',
    ({ entries }: MemoryStorage) => {
      for (const [name, text] of entries) {
        const outcome = { status: 'unsent', idempotencyKey: name.split('/').at(-1) };
        entries.set(name, JSON.stringify({ ...JSON.parse(text), outcome, sendBefore: null }));
      }
    },
  ],
])('an order whose entry %s is closed, and never sent again', async (_, damage) => {
  await phone.interrupt(buying('unread'), 'lost');
  damage(phone.storage);
  const { orders, sent } = phone.open();
  const [order] = await orders.resume();
  expect(order).toMatchObject({ placedAt: expect.any(String), outcome: unsent('VOIDED') });
  // The first request asks for the outcome, the second one closes the key.
  expect(sent).toHaveLength(2);
  expect(phone.app.sandbox.orders()).toEqual([]);
});

test.each(['failing', 'hanging'] as const)(
  'with `allowVolatile` an order is placed even if its key cannot be stored (%s)',
  async (fault) => {
    for (const step of ['get', 'set', 'delete', 'keys'] as const) phone.storage[fault].add(step);
    const steps: string[] = [];
    phone.storage.before = (step) => void steps.push(step);
    const { core } = phone.open();
    const orders = createOrders(core, { allowVolatile: true });
    const ticket = orders.ticket();
    // The answer is lost once: the repeat must not need the storage.
    phone.line.next.push('answer-lost');
    const outcome = await ticket.place(buying('volatile'));
    expect(outcome).toMatchObject({ status: 'accepted', replayed: true });
    expect(ticket.isDurable).toBe(false);
    expect(steps.filter((step) => step === 'set')).toHaveLength(1);
    expect(phone.app.sandbox.orders()).toHaveLength(1);
  },
);

test('a ticket is durable if its key was stored, and a new ticket is durable if the last access to the storage succeeded', async () => {
  const { orders } = phone.open();
  const kept = orders.ticket();
  await kept.place(buying('kept', 'TEST.UNKNOWN'));
  expect(kept.isDurable).toBe(true);
  phone.storage.failing.add('set').add('keys');
  const refused = orders.ticket();
  await refused.place(buying('refused'));
  expect(refused.isDurable).toBe(false);
  // A new ticket has no key in the storage: the failed write decides.
  expect(orders.ticket().isDurable).toBe(false);
  expect(kept.isDurable).toBe(true);
  await expect(orders.resume()).rejects.toMatchObject({ code: 'STORAGE' });
  phone.storage.failing.clear();
  await orders.resume();
  expect(orders.ticket().isDurable).toBe(false);
  await orders.ticket().place(buying('kept again'));
  expect(orders.ticket().isDurable).toBe(true);
});

test('a form that is reset deletes the key of its order, but not of one in doubt', async () => {
  // Without timers an outcome never counts as shown.
  const { orders } = await phone.openKnown({}, { after: () => () => {} });
  const keys: string[] = [];
  for (const symbol of ['TEST.UNKNOWN', 'AAPL']) {
    const ticket = orders.ticket();
    keys.push((await ticket.place(buying('reset', symbol))).idempotencyKey);
    ticket.reset();
  }
  const name = expect.stringContaining(`/${keys[0]}`);
  await eventually(() => expect([...phone.storage.entries.keys()]).toEqual([name]));
});

test('a storage that never answers is reported, at the start and at a tap', async () => {
  for (const step of ['set', 'delete', 'keys'] as const) phone.storage.hanging.add(step);
  const device = await phone.openKnown({}, { after: hurried });
  const placing = device.orders.ticket().place(buying('silent'), { withinMs: 1_000 });
  const resuming = device.orders.resume({ withinMs: 60_000 });
  await expect(resuming).rejects.toMatchObject({ code: 'STORAGE' });
  expect(await placing).toMatchObject(unsent('STORAGE'));
});

/** Shortens each delay to a tenth, such as the ten seconds for a silent storage. */
function hurried(ms: number, task: () => void): () => void {
  const timer = setTimeout(task, ms / 10);
  return () => clearTimeout(timer);
}

/** A storage whose first write waits until `release`, which resolves after the write. */
function delayFirstWrite(storage: MemoryStorage) {
  const gate = Promise.withResolvers<void>();
  const written = Promise.withResolvers<void>();
  let writes = 0;
  return {
    ...storage,
    async set(key: string, text: string) {
      writes += 1;
      const isFirst = writes === 1;
      if (isFirst) await gate.promise;
      await storage.set(key, text);
      if (isFirst) written.resolve();
    },
    release(): Promise<void> {
      gate.resolve();
      return written.promise;
    },
  };
}
