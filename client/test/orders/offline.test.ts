import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { listenLocally } from '../../../test/support/local-server.ts';
import { startedForEach } from '../../../test/support/started.ts';
import type { Lifecycle } from '../../src/environment.ts';
import type { OrderInput } from '../../src/orders/order-input.ts';
import { ACCEPTED, buying, LIMIT, startPhone, unknown, unsent } from '../support/phone.ts';

const phone = startedForEach(startPhone);
const HALF_A_MINUTE_MS = 30_000;

/** A lifecycle whose network a test switches. */
function network() {
  const state = { isOnline: true };
  const lifecycle: Lifecycle = {
    isVisible: true,
    get isOnline() {
      return state.isOnline;
    },
    onReturn: () => () => {},
    onHide: () => () => {},
  };
  return { state, lifecycle };
}

const mutations = (sent: readonly unknown[]) =>
  sent.filter((variables) => typeof variables === 'object' && variables && 'input' in variables);

test('a Buy tapped offline is unsent at once, and does not go out by itself', async () => {
  const { state, lifecycle } = network();
  let fetches = 0;
  const counted: typeof fetch = (...args) => {
    fetches += 1;
    return fetch(...args);
  };
  const { orders, timers } = phone.open({}, { lifecycle, fetch: counted });
  state.isOnline = false;
  const [ticket, limit] = [orders.ticket(), orders.ticket()];
  const offline = unsent('NETWORK', { retryable: true });
  expect(await ticket.place(buying('offline'))).toMatchObject(offline);
  expect(await limit.placeLimit(LIMIT)).toMatchObject(offline);
  expect(fetches).toBe(0);
  expect(timers.size).toBe(0);
  expect(phone.storage.entries.size).toBe(0);
  state.isOnline = true;
  expect(await ticket.place(buying('offline'))).toMatchObject(ACCEPTED);
  expect(phone.app.sandbox.orders()).toHaveLength(1);
});

test('a network that goes while the key is stored keeps the order from leaving', async () => {
  const { state, lifecycle } = network();
  phone.storage.after = (step) => {
    if (step === 'set') state.isOnline = false;
  };
  const { orders, sent } = phone.open({}, { lifecycle });
  expect(await orders.ticket().place(buying('gone'))).toMatchObject({ status: 'unsent' });
  expect(sent).toEqual([]);
  expect(phone.storage.entries.size).toBe(0);
});

test.each([
  ['that refuses connections', refusingUrl],
  ['whose name is not found', () => 'http://nowhere.invalid'],
])('a server %s took nothing', async (_what, url) => {
  const gone = await url();
  const { orders, sent } = await phone.openKnown(
    {},
    { fetch: (of, init) => fetch(String(init?.body).includes('mutation') ? gone : of, init) },
  );
  expect(await orders.ticket().place(buying('refused'))).toMatchObject(unsent('NETWORK'));
  expect(sent).toHaveLength(1);
});

test('a refused connection does not settle what became of a request before it', async () => {
  const url = await refusingUrl();
  let isRefused = false;
  const refusing: typeof fetch = (input, init) => {
    if (!isRefused) return fetch(input, init);
    phone.clockMs = HALF_A_MINUTE_MS;
    return fetch(url, init);
  };
  const { orders } = phone.open({}, { fetch: refusing });
  const ticket = orders.ticket();
  phone.line.next.push(...Array(100).fill('answer-lost'));
  const placing = ticket.place(buying('doubtful'), { withinMs: HALF_A_MINUTE_MS });
  await eventually(() => phone.line.answered > 0);
  isRefused = true;
  expect(await placing).toMatchObject(unknown('NETWORK'));
});

test('an app that has no token to give has sent nothing', async () => {
  let isAway = false;
  const { orders } = await phone.openKnown({
    token: () => {
      if (isAway) throw new TypeError('Failed to fetch');
      return phone.token;
    },
  });
  isAway = true;
  const outcome = await orders.ticket().place(buying('no token'), { withinMs: 1_000 });
  expect(outcome).toMatchObject({ status: 'unsent' });
});

test('after its wait the key of an order at market is closed: it is unsent, and nothing of it can arrive later', async () => {
  const { orders, sent } = await phone.openKnown();
  phone.line.next.push(...Array(1_000).fill('lost'));
  const ticket = orders.ticket();
  const { idempotencyKey } = ticket;
  const placing = ticket.place(buying('lost'), { withinMs: 120_000 });
  await eventually(() => phone.line.orders > 0);
  const before = mutations(sent).length;
  phone.pass(HALF_A_MINUTE_MS);
  phone.line.next.length = 0;
  const closed = { idempotencyKey, ...unsent('VOIDED', { retryable: false }) };
  expect(await placing).toMatchObject(closed);
  // One may have been on its way when the clock was set.
  expect(mutations(sent).length).toBeLessThanOrEqual(before + 1);
  expect(phone.storage.entries.size).toBe(0);
  const late = { input: { ...buying('lost'), idempotencyKey } };
  const document =
    'mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { __typename } }';
  await phone.app.query(document, { token: phone.token, variables: late });
  expect(phone.app.sandbox.orders()).toEqual([]);
  // Another tap is another order.
  expect(await ticket.place(buying('lost'))).toMatchObject(ACCEPTED);
  expect(ticket.idempotencyKey).not.toBe(idempotencyKey);
  expect(phone.app.sandbox.orders()).toHaveLength(1);
});

test('a request that hangs is ended with the wait, and what came of it is asked', async () => {
  const { orders, sent } = await phone.openKnown();
  phone.line.next.push('silent');
  const outcome = await orders.ticket({ maxWaitMs: 2_000 }).place(buying('hanging'));
  expect(outcome).toMatchObject({ status: 'accepted', replayed: true });
  expect(mutations(sent)).toHaveLength(1);
});

test('a repeat that waits for a token when the wait ends does not leave', async () => {
  const late = Promise.withResolvers<void>();
  let isAsking = false;
  let isLate = false;
  const { orders, sent } = await phone.openKnown({
    token: (() => {
      if (!isLate) return phone.token;
      isAsking = true;
      return late.promise.then(() => phone.token);
    }) as () => string | null,
  });
  isLate = true;
  const placing = orders.ticket().place(buying('queued'), { withinMs: 120_000 });
  await eventually(() => isAsking);
  phone.clockMs = HALF_A_MINUTE_MS;
  late.resolve();
  expect(await placing).toMatchObject(unsent('NETWORK'));
  expect(sent).toEqual([]);
});

test('an order that waits for its price is repeated longer', async () => {
  const { orders, sent } = await phone.openKnown();
  phone.line.next.push('lost', 'lost');
  const placing = orders.ticket().placeLimit(LIMIT, { withinMs: 120_000 });
  await eventually(() => expect(phone.line.orders).toBe(1));
  phone.clockMs = HALF_A_MINUTE_MS;
  expect(await placing).toMatchObject(ACCEPTED);
  expect(mutations(sent)).toHaveLength(3);
});

test('after a restart an order is sent again within its own wait alone, which may be without end', async () => {
  await phone.killPlacing(buying('short'));
  const waits = { long: 600_000, endless: Number.POSITIVE_INFINITY };
  const inputs = new Map<string, OrderInput>();
  for (const [comment, maxWaitMs] of Object.entries(waits)) {
    inputs.set(await phone.killPlacing(buying(comment), { maxWaitMs }), buying(comment));
  }
  phone.pass(HALF_A_MINUTE_MS);
  // Another tab resumes at the same time.
  const tabs = [phone.open(), phone.open()];
  const resumed = (await Promise.all(tabs.map(({ orders }) => orders.resume()))).flat();
  for (const { idempotencyKey, outcome } of resumed) {
    const closed = unsent('VOIDED');
    expect(outcome).toMatchObject(inputs.has(idempotencyKey) ? { status: 'notFound' } : closed);
  }
  const waiting = resumed.filter(({ outcome }) => outcome.status === 'notFound');
  expect(waiting).toHaveLength(4);
  for (const { ticket } of waiting) {
    const input = inputs.get(ticket.idempotencyKey) ?? buying('none');
    expect(await ticket.place(input)).toMatchObject(ACCEPTED);
  }
  expect(phone.app.sandbox.orders()).toHaveLength(2);
  expect(phone.storage.entries.size).toBe(0);
});

test.each([
  ['of no number is the usual one', Number.NaN, 'accepted'],
  ['that is over already lets nothing leave', -1, 'unsent'],
])('a wait %s', async (_, maxWaitMs, status) => {
  const { orders, sent } = phone.open();
  expect(await orders.ticket({ maxWaitMs }).place(buying('wait'))).toMatchObject({ status });
  expect(sent).toHaveLength(status === 'accepted' ? 1 : 0);
});

/** An address at which nobody listens any more. */
async function refusingUrl(): Promise<string> {
  await using server = await listenLocally(createServer());
  return server.url;
}
