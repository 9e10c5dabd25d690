import { expect, test } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { startedForEach } from '../../../test/support/started.ts';
import type { OrderProgress } from '../../src/orders/ticket.ts';
import {
  ACCEPTED,
  buying,
  LIMIT,
  startPhone,
  undatedFetch,
  unknown,
  unsent,
} from '../support/phone.ts';

const HOUR_MS = 3_600_000;
/** An order at market may be sent for five seconds else, which pass on a busy machine. */
const PATIENT = { maxWaitMs: 60_000 };
const phone = startedForEach(startPhone);

/** Collects the progress that an order reports, beside the option by which it does. */
function listening() {
  const told: OrderProgress[] = [];
  return { told, onProgress: (progress: OrderProgress) => void told.push(progress) };
}

test('an order names until when it is meant, by the server’s clock', async () => {
  const { aheadMs } = phone.line;
  phone.clockMs = 48 * HOUR_MS;
  const { orders, sent } = phone.open();
  await orders.ticket().place(buying('market'));
  await orders.ticket(PATIENT).place(buying('patient'));
  await orders.ticket().placeLimit(LIMIT);
  await orders.ticket(PATIENT).placeLimit(LIMIT);
  for (const [at, most] of [5_000, 60_000, 23 * HOUR_MS, 60_000].entries()) {
    const { input } = sent[at] as { readonly input: { readonly sendBefore?: string } };
    // By the clock of the line, which stamps the answers, and is not set back with the date.
    const leftMs = Date.parse(String(input.sendBefore)) - systemClock.now() - aheadMs;
    expect(leftMs).toBeLessThanOrEqual(most);
    expect(leftMs).toBeGreaterThan(most - 60_000);
  }
  expect(phone.app.sandbox.orders()).toHaveLength(4);
});

test('without the server’s clock it names none, and its key is closed all the same', async () => {
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
  expect(await placing).toMatchObject(unknown('IDEMPOTENCY_UNAVAILABLE', { retryable: false }));
  expect(sent.at(-1)).toEqual({ key: expect.any(String) });
  expect(core.serverClock.now()).toBeNull();
});

test('an order that comes too late is unsent, with a code that says so', async () => {
  phone.line.aheadMs = -10_000;
  const { orders } = phone.open();
  expect(await orders.ticket().place(buying('late'))).toMatchObject(
    unsent('EXPIRED', { retryable: false }),
  );
  expect(phone.storage.entries.size).toBe(0);
  expect(phone.app.sandbox.orders()).toEqual([]);
});

test('a dead line is left for a WebSocket of its own, and the late request is the same order', async () => {
  const { orders } = await phone.openKnown();
  phone.line.next.push('dead');
  const { told, onProgress } = listening();
  const outcome = await orders.ticket(PATIENT).place(buying('dead'), { onProgress });
  expect(outcome).toMatchObject({ status: 'accepted', replayed: false });
  expect([phone.line.sockets, phone.line.orders]).toEqual([1, 1]);
  expect(told).toEqual(['sending', 'asking']);
  phone.line.heal();
  await eventually(() => phone.line.answered === 1);
  expect(phone.app.sandbox.orders()).toHaveLength(1);
});

test('a token that changes on a dead line is asked about over the WebSocket as well', async () => {
  const { orders, core } = await phone.openKnown();
  phone.line.next.push('dead');
  const placing = orders.ticket(PATIENT).place(buying('renewed'));
  await eventually(() => phone.line.orders === 1);
  const before = phone.token;
  phone.signIn('demo@example.com');
  expect(phone.token).not.toBe(before);
  // A question by `fetch`, which waits on the dead line, is not waited for.
  await core.tokenChanged();
  expect(await placing).toMatchObject(ACCEPTED);
  expect(phone.line.sockets).toBe(2);
});

test('an order whose line is dead until its time is over is closed over a WebSocket', async () => {
  const { orders } = await phone.openKnown();
  phone.line.next.push('dead');
  const { told, onProgress } = listening();
  const placing = orders.ticket().place(buying('closed'), { onProgress });
  await eventually(() => phone.line.orders === 1);
  phone.pass(6_000);
  expect(await placing).toMatchObject(unsent('VOIDED'));
  expect(told).toEqual(['sending', 'closing']);
  phone.line.heal();
  await eventually(() => phone.line.answered === 1);
  expect(phone.app.sandbox.orders()).toEqual([]);
});

test('a slow gateway opens no WebSocket, since a ping is answered', async () => {
  const { orders } = await phone.openKnown();
  phone.app.sandbox.fail({ operation: 'openPosition', kind: 'delay', delayMs: 3_000 });
  const outcome = await orders.ticket(PATIENT).place(buying('slow'));
  expect(outcome).toMatchObject({ status: 'accepted', replayed: false });
  expect([phone.line.pings, phone.line.sockets]).toEqual([1, 0]);
});

test('an order under way at the end of its time is waited for, and told', async () => {
  const { orders } = await phone.openKnown();
  phone.app.sandbox.fail({ operation: 'openPosition', kind: 'delay', delayMs: 1_000 });
  const placing = orders.ticket().place(buying('under way'));
  await eventually(() => phone.app.sandbox.calls('openPosition') === 1);
  phone.pass(6_000);
  expect(await placing).toMatchObject(ACCEPTED);
  expect(phone.app.sandbox.orders()).toHaveLength(1);
});

test('a key that another tab has closed is closed once more, and its order unsent', async () => {
  const app = phone.open();
  const ticket = app.orders.ticket(PATIENT);
  const document =
    'mutation ($key: String!, $since: DateTime) { voidOrder(idempotencyKey: $key, since: $since) { __typename } }';
  const since = new Date(systemClock.now() + 1_000).toISOString();
  const variables = { key: ticket.idempotencyKey, since };
  await phone.app.query(document, { token: phone.token, variables });
  expect(await ticket.place(buying('closed before'))).toMatchObject(unsent('VOIDED'));
  expect(app.sent).toHaveLength(2);
  expect(phone.app.sandbox.orders()).toEqual([]);
});

test('after a kill of the app an order is fresh by the server’s clock, whatever the device’s says', async () => {
  await phone.killPlacing(buying('killed'), { fault: 'dead', ...PATIENT });
  phone.line.heal();
  await eventually(() => phone.line.answered === 1);
  phone.clockMs = 48 * HOUR_MS;
  const [accepted] = await phone.open().orders.resume();
  expect(accepted).toMatchObject({ age: 'fresh', outcome: ACCEPTED });
});

test('a key from before the records of the server begin is unknown after a restart, and stays', async () => {
  phone.line.aheadMs = -60_000;
  await phone.killPlacing(buying('before'));
  phone.pass(30_000);
  for (let run = 0; run < 2; run += 1) {
    expect(await phone.open().orders.resume()).toMatchObject([
      { outcome: unknown('IDEMPOTENCY_UNAVAILABLE') },
    ]);
  }
  expect(phone.storage.entries.size).toBe(1);
});
