import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { startSandbox } from '../../../sandbox/start.ts';
import { startTestApp } from '../../../test/support/app.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { startFacadeProcess } from '../../../test/support/facade-process.ts';
import { createScriptedClock } from '../../../test/support/scripted-clock.ts';
import { createMemoryStorage } from '../support/memory-storage.ts';
import { startOrderLine } from '../support/order-line.ts';
import { buying, openOrderCore, startPhone, unknown } from '../support/phone.ts';

test('an order under way when the server is killed is repeated to the next one, and not carried out twice', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'client-orders-'));
  const clock = createScriptedClock(systemClock.now());
  await using sandbox = await startSandbox({ tickMs: 0, instruments: 40, clock });
  await using facade = await startFacadeProcess({
    GATEWAY_URL: sandbox.url,
    ORDER_STORE: join(folder.path, 'orders.db'),
    ORDER_TIMEOUT_MS: '5000',
  });
  // Its address stays, whatever port the next server has.
  await using line = await startOrderLine(() => facade.url);
  const token = sandbox.token({ email: 'demo@example.com' });
  const storage = createMemoryStorage();
  const open = () => openOrderCore({ url: line.url, token: () => token, storage });
  const { orders, core } = open();
  await core.account();
  // The gateway carries it out later, when nobody waits for its answer any more.
  sandbox.fail({ operation: 'openPosition', kind: 'delay', delayMs: 1_000 });
  const ticket = orders.ticket();
  const placing = ticket.place(buying('killed'), { withinMs: 120_000 });
  await eventually(() => expect(sandbox.calls('openPosition')).toBe(1));
  await facade.kill();
  await clock.advance(1_000);
  await facade.start();
  expect(await placing).toMatchObject({ status: 'unknown', error: null });
  await eventually(() => expect(sandbox.orders()).toHaveLength(1));
  expect(await open().orders.resume()).toMatchObject([{ outcome: { status: 'unknown' } }]);
  expect(await ticket.place(buying('killed'))).toMatchObject({ status: 'unknown' });
  expect(sandbox.calls('openPosition')).toBe(1);
});

test('an order that a store has forgotten is unknown, though its repeat came too late', async () => {
  await using sandbox = await startSandbox({ tickMs: 0, instruments: 40 });
  await using former = await startTestApp({}, { gateway: sandbox });
  await using next = await startTestApp({}, { gateway: sandbox });
  let current = former;
  await using line = await startOrderLine(() => current.url);
  line.aheadMs = -3_700;
  const token = sandbox.token({ email: 'demo@example.com' });
  const storage = createMemoryStorage();
  const { core, orders } = openOrderCore({ url: line.url, token: () => token, storage });
  await core.account();
  line.next.push('answer-lost', ...Array(1_000).fill('lost'));
  const ticket = orders.ticket();
  const placing = ticket.place(buying('forgotten'));
  await eventually(() => expect(line.answered).toBe(1));
  current = next;
  // The order was meant to be sent within five seconds, of which its server is 3.7 behind.
  const tooLateMs = systemClock.now() + 1_500;
  await eventually(() => systemClock.now() > tooLateMs);
  line.next.length = 0;
  const forgotten = unknown('IDEMPOTENCY_UNAVAILABLE', { retryable: false });
  expect(await placing).toMatchObject(forgotten);
  expect(await ticket.place(buying('forgotten'))).toMatchObject(forgotten);
  expect(sandbox.orders()).toHaveLength(1);
  core.dispose();
});

test('a repeat that came too late is unsent where the records reach back to its key', async () => {
  await using phone = await startPhone();
  let key = '';
  const fetching: typeof fetch = async (input, init) => {
    const { variables } = JSON.parse(String(init?.body));
    if (phone.line.orders === 0 || (variables?.key ?? key) !== key) return fetch(input, init);
    const refused = { __typename: 'OrderRejected', error: 'EXPIRED', sent: false };
    return Response.json({ data: { order: { ...refused, idempotencyKey: key } } });
  };
  const { orders, sent, core } = phone.open({}, { fetch: fetching });
  await core.account();
  phone.line.next.push('lost');
  const ticket = orders.ticket();
  key = ticket.idempotencyKey;
  expect(await ticket.place(buying('late'))).toMatchObject({
    status: 'unsent',
    idempotencyKey: key,
    error: { code: 'EXPIRED' },
  });
  expect(sent).toHaveLength(4);
});
