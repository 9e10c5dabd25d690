import { expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import type { OrderInput } from '../../src/orders/order-input.ts';
import type { OrderProgress } from '../../src/orders/ticket.ts';
import { buying, startPhone, undatedFetch } from '../support/phone.ts';

const HOUR_MS = 3_600_000;
const LIMIT = { symbol: 'AAPL', side: 'BUY', amount: 50, price: 10, comment: 'limit' } as const;

interface SentOrder {
  readonly input: OrderInput & { readonly sendBefore?: string };
}

/** How long after now the orders were to be sent at the latest, in milliseconds. */
function windows(sent: readonly unknown[]): number[] {
  return sent.map((one) => Date.parse(String((one as SentOrder).input.sendBefore)) - Date.now());
}

test('an order names until when it is meant, by the server’s clock', async () => {
  await using phone = await startPhone();
  const { aheadMs } = phone.line;
  phone.clockMs = 48 * HOUR_MS;
  const { orders, sent } = phone.open();
  await orders.ticket().place(buying('market'));
  await orders.ticket({ maxWaitMs: 60_000 }).place(buying('patient'));
  await orders.ticket().placeLimit(LIMIT);
  await orders.ticket({ maxWaitMs: 60_000 }).placeLimit(LIMIT);
  const wanted = [5_000, 60_000, 23 * HOUR_MS, 60_000];
  for (const [at, windowMs] of windows(sent).entries()) {
    const most = Number(wanted[at]) + aheadMs;
    expect(windowMs).toBeLessThanOrEqual(most);
    expect(windowMs).toBeGreaterThan(most - 60_000);
  }
  expect(phone.app.sandbox.orders()).toHaveLength(4);
});

test('without the server’s clock it names none, and its key is closed all the same', async () => {
  await using phone = await startPhone();
  const { orders, sent, core } = phone.open({}, { fetch: undatedFetch });
  await orders.ticket().place(buying('none'));
  expect(sent).toMatchObject([
    { input: expect.not.objectContaining({ sendBefore: expect.anything() }) },
  ]);
  phone.line.next.push(...Array(1_000).fill('lost'));
  const placing = orders.ticket().place(buying('lost'));
  await eventually(() => phone.line.orders === 2);
  phone.clockMs = 20_000;
  phone.line.next.length = 0;
  // The records of a server that has just begun do not reach back to when the key may have been made.
  expect(await placing).toMatchObject({
    status: 'unknown',
    error: { code: 'IDEMPOTENCY_UNAVAILABLE', retryable: false },
  });
  expect(sent.at(-1)).toEqual({ key: expect.any(String) });
  expect(core.serverClock.now()).toBeNull();
});

test('an order that comes too late is unsent, with a code that says so', async () => {
  await using phone = await startPhone();
  phone.line.aheadMs = -10_000;
  const { orders } = phone.open();
  expect(await orders.ticket().place(buying('late'))).toMatchObject({
    status: 'unsent',
    error: { code: 'EXPIRED', retryable: false },
  });
  expect(phone.storage.entries.size).toBe(0);
  expect(phone.app.sandbox.orders()).toEqual([]);
});

test('a dead line is left for a WebSocket of its own, and the late request is the same order', async () => {
  await using phone = await startPhone();
  const { orders, core } = phone.open();
  await core.account();
  phone.line.next.push('dead');
  const told: OrderProgress[] = [];
  const onProgress = (progress: OrderProgress) => void told.push(progress);
  expect(
    await orders.ticket({ maxWaitMs: 60_000 }).place(buying('dead'), { onProgress }),
  ).toMatchObject({ status: 'accepted', replayed: false });
  expect([phone.line.sockets, phone.line.orders]).toEqual([1, 1]);
  expect(told).toEqual(['sending', 'asking']);
  phone.line.heal();
  await eventually(() => phone.line.answered === 1);
  expect(phone.app.sandbox.orders()).toHaveLength(1);
});

test('a token that changes on a dead line is asked about over the WebSocket as well', async () => {
  await using phone = await startPhone();
  const { orders, core } = phone.open();
  await core.account();
  phone.line.next.push('dead');
  const placing = orders.ticket({ maxWaitMs: 60_000 }).place(buying('renewed'));
  await eventually(() => phone.line.orders === 1);
  const before = phone.token;
  phone.signIn('demo@example.com');
  expect(phone.token).not.toBe(before);
  // A question by `fetch`, which waits on the dead line, is not waited for.
  await core.tokenChanged();
  expect(await placing).toMatchObject({ status: 'accepted' });
  expect(phone.line.sockets).toBe(2);
});

test('an order whose line is dead until its time is over is closed over a WebSocket', async () => {
  await using phone = await startPhone();
  const { orders, core } = phone.open({}, { now: () => Date.now() + phone.clockMs });
  await core.account();
  phone.line.next.push('dead');
  const told: OrderProgress[] = [];
  const onProgress = (progress: OrderProgress) => void told.push(progress);
  const placing = orders.ticket().place(buying('closed'), { onProgress });
  await eventually(() => phone.line.orders === 1);
  phone.pass(6_000);
  expect(await placing).toMatchObject({ status: 'unsent', error: { code: 'VOIDED' } });
  expect(told).toEqual(['sending', 'closing']);
  phone.line.heal();
  await eventually(() => phone.line.answered === 1);
  expect(phone.app.sandbox.orders()).toEqual([]);
});

test('a slow gateway opens no WebSocket, since a ping is answered', async () => {
  await using phone = await startPhone();
  const { orders, core } = phone.open();
  await core.account();
  phone.app.sandbox.fail({ operation: 'openPosition', kind: 'delay', delayMs: 3_000 });
  expect(await orders.ticket({ maxWaitMs: 60_000 }).place(buying('slow'))).toMatchObject({
    status: 'accepted',
    replayed: false,
  });
  expect(phone.line.pings).toBe(1);
  expect(phone.line.sockets).toBe(0);
});

test('an order under way at the end of its time is waited for, and told', async () => {
  await using phone = await startPhone();
  const { orders, core } = phone.open();
  await core.account();
  phone.app.sandbox.fail({ operation: 'openPosition', kind: 'delay', delayMs: 1_000 });
  const placing = orders.ticket().place(buying('under way'));
  await eventually(() => phone.app.sandbox.calls('openPosition') === 1);
  phone.pass(6_000);
  expect(await placing).toMatchObject({ status: 'accepted' });
  expect(phone.app.sandbox.orders()).toHaveLength(1);
});

test('a key that another tab has closed is closed once more, and its order unsent', async () => {
  await using phone = await startPhone();
  const app = phone.open();
  const ticket = app.orders.ticket({ maxWaitMs: 60_000 });
  const document =
    'mutation ($key: String!, $since: DateTime) { voidOrder(idempotencyKey: $key, since: $since) { __typename } }';
  const variables = {
    key: ticket.idempotencyKey,
    since: new Date(Date.now() + 1_000).toISOString(),
  };
  await phone.app.query(document, { token: phone.token, variables });
  expect(await ticket.place(buying('closed before'))).toMatchObject({
    status: 'unsent',
    error: { code: 'VOIDED' },
  });
  expect(app.sent).toHaveLength(2);
  expect(phone.app.sandbox.orders()).toEqual([]);
});

test('after a kill of the app an order is fresh by the server’s clock, whatever the device’s says', async () => {
  await using phone = await startPhone();
  await phone.killPlacing(buying('killed'), { fault: 'dead', maxWaitMs: 60_000 });
  phone.line.heal();
  await eventually(() => phone.line.answered === 1);
  phone.clockMs = 48 * HOUR_MS;
  const [accepted] = await phone.open().orders.resume();
  expect(accepted).toMatchObject({ age: 'fresh', outcome: { status: 'accepted' } });
});

test('a key from before the records of the server begin is unknown after a restart, and stays', async () => {
  await using phone = await startPhone();
  phone.line.aheadMs = -60_000;
  await phone.killPlacing(buying('before'));
  phone.pass(30_000);
  for (let run = 0; run < 2; run += 1) {
    expect(await phone.open().orders.resume()).toMatchObject([
      { outcome: { status: 'unknown', error: { code: 'IDEMPOTENCY_UNAVAILABLE' } } },
    ]);
  }
  expect(phone.storage.entries.size).toBe(1);
});
