import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { listenLocally } from '../../../test/support/local-server.ts';
import type { Lifecycle } from '../../src/environment.ts';
import { buying, startPhone } from '../support/phone.ts';

const LIMIT = { symbol: 'AAPL', side: 'BUY', amount: 50, price: 10, comment: 'limit' } as const;
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
  await using phone = await startPhone();
  const { state, lifecycle } = network();
  let fetches = 0;
  const counted: typeof fetch = (...args) => {
    fetches += 1;
    return fetch(...args);
  };
  const { orders, timers } = phone.open({}, { lifecycle, fetch: counted });
  state.isOnline = false;
  const [ticket, limit] = [orders.ticket(), orders.ticket()];
  const unsent = { status: 'unsent', error: { code: 'NETWORK', retryable: true } };
  expect(await ticket.place(buying('offline'))).toMatchObject(unsent);
  expect(await limit.placeLimit(LIMIT)).toMatchObject(unsent);
  expect(fetches).toBe(0);
  expect(timers.size).toBe(0);
  expect(phone.storage.entries.size).toBe(0);
  state.isOnline = true;
  expect(await ticket.place(buying('offline'))).toMatchObject({ status: 'accepted' });
  expect(phone.app.sandbox.orders()).toHaveLength(1);
});

test('a network that goes while the key is stored keeps the order from leaving', async () => {
  await using phone = await startPhone();
  const { state, lifecycle } = network();
  const storage = {
    ...phone.storage,
    async set(key: string, text: string) {
      await phone.storage.set(key, text);
      state.isOnline = false;
    },
  };
  const { orders, sent } = phone.open({ storage }, { lifecycle });
  expect(await orders.ticket().place(buying('gone'))).toMatchObject({ status: 'unsent' });
  expect(sent).toEqual([]);
  expect(phone.storage.entries.size).toBe(0);
});

test.each([
  ['that refuses connections', refusingUrl],
  ['whose name is not found', () => 'http://nowhere.invalid'],
])('a server %s took nothing', async (_what, url) => {
  await using phone = await startPhone();
  const { orders } = phone.open({ url: await url() });
  expect(await orders.ticket().place(buying('refused'))).toMatchObject({
    status: 'unsent',
    error: { code: 'NETWORK' },
  });
});

test('an order that is refused a connection once its account is known is unsent as well', async () => {
  await using phone = await startPhone();
  const url = await refusingUrl();
  const { orders, core, sent } = phone.open(
    {},
    {
      fetch: (input, init) => fetch(String(init?.body).includes('mutation') ? url : input, init),
    },
  );
  await core.account();
  expect(await orders.ticket().place(buying('refused'))).toMatchObject({ status: 'unsent' });
  expect(sent).toHaveLength(1);
});

test('a refused connection does not settle what became of a request before it', async () => {
  await using phone = await startPhone();
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
  expect(await placing).toMatchObject({ status: 'unknown', error: { code: 'NETWORK' } });
});

test('an app that has no token to give has sent nothing', async () => {
  await using phone = await startPhone();
  const { orders, core, sent } = phone.open({
    token: () => {
      if (sent.length === 0 && isAway) throw new TypeError('Failed to fetch');
      return phone.token;
    },
  });
  let isAway = false;
  await core.account();
  isAway = true;
  const outcome = await orders.ticket().place(buying('no token'), { withinMs: 1_000 });
  expect(outcome).toMatchObject({ status: 'unsent' });
});

test('after its wait the key of an order at market is closed: it is unsent, and nothing of it can arrive later', async () => {
  await using phone = await startPhone();
  const { orders, core, sent } = phone.open();
  await core.account();
  phone.line.next.push(...Array(1_000).fill('lost'));
  const ticket = orders.ticket();
  const { idempotencyKey } = ticket;
  const placing = ticket.place(buying('lost'), { withinMs: 120_000 });
  await eventually(() => phone.line.orders > 0);
  const before = mutations(sent).length;
  phone.pass(HALF_A_MINUTE_MS);
  phone.line.next.length = 0;
  expect(await placing).toMatchObject({
    status: 'unsent',
    idempotencyKey,
    error: { code: 'VOIDED', retryable: false },
  });
  // One may have been on its way when the clock was set.
  expect(mutations(sent).length).toBeLessThanOrEqual(before + 1);
  expect(phone.storage.entries.size).toBe(0);
  const late = { input: { ...buying('lost'), idempotencyKey } };
  const document =
    'mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { __typename } }';
  await phone.app.query(document, { token: phone.token, variables: late });
  expect(phone.app.sandbox.orders()).toEqual([]);
  // Another tap is another order.
  expect(await ticket.place(buying('lost'))).toMatchObject({ status: 'accepted' });
  expect(ticket.idempotencyKey).not.toBe(idempotencyKey);
  expect(phone.app.sandbox.orders()).toHaveLength(1);
});

test('a request that hangs is ended with the wait, and what came of it is asked', async () => {
  await using phone = await startPhone();
  const { orders, core, sent } = phone.open();
  await core.account();
  phone.line.next.push('silent');
  const outcome = await orders.ticket({ maxWaitMs: 2_000 }).place(buying('hanging'));
  expect(outcome).toMatchObject({ status: 'accepted', replayed: true });
  expect(mutations(sent)).toHaveLength(1);
});

test('a repeat that waits for a token when the wait ends does not leave', async () => {
  await using phone = await startPhone();
  const late = Promise.withResolvers<void>();
  let isAsking = false;
  let isLate = false;
  const { orders, core, sent } = phone.open({
    token: (() => {
      if (!isLate) return phone.token;
      isAsking = true;
      return late.promise.then(() => phone.token);
    }) as () => string | null,
  });
  await core.account();
  isLate = true;
  const placing = orders.ticket().place(buying('queued'), { withinMs: 120_000 });
  await eventually(() => isAsking);
  phone.clockMs = HALF_A_MINUTE_MS;
  late.resolve();
  expect(await placing).toMatchObject({ status: 'unsent', error: { code: 'NETWORK' } });
  expect(sent).toEqual([]);
});

test('an order that waits for its price is repeated longer', async () => {
  await using phone = await startPhone();
  const { orders, core, sent } = phone.open();
  await core.account();
  phone.line.next.push('lost', 'lost');
  const placing = orders.ticket().placeLimit(LIMIT, { withinMs: 120_000 });
  await eventually(() => phone.line.orders === 1);
  phone.clockMs = HALF_A_MINUTE_MS;
  expect(await placing).toMatchObject({ status: 'accepted' });
  expect(mutations(sent)).toHaveLength(3);
});

test('after a restart an order is sent again within its own wait alone', async () => {
  await using phone = await startPhone();
  await phone.killPlacing(buying('short'));
  const long = await phone.killPlacing(buying('long'), { maxWaitMs: 600_000 });
  phone.pass(HALF_A_MINUTE_MS);
  // Another tab resumes at the same time.
  const tabs = [phone.open(), phone.open()];
  const resumed = (await Promise.all(tabs.map(({ orders }) => orders.resume()))).flat();
  for (const { idempotencyKey, outcome } of resumed) {
    const closed = { status: 'unsent', error: { code: 'VOIDED' } };
    expect(outcome).toMatchObject(idempotencyKey === long ? { status: 'notFound' } : closed);
  }
  const waiting = resumed.filter(({ outcome }) => outcome.status === 'notFound');
  expect(waiting).toHaveLength(2);
  for (const { ticket } of waiting) {
    expect(await ticket.place(buying('long'))).toMatchObject({ status: 'accepted' });
  }
  expect(phone.app.sandbox.orders()).toHaveLength(1);
  expect(phone.storage.entries.size).toBe(0);
});

test('a wait without end is one after a restart too', async () => {
  await using phone = await startPhone();
  await phone.killPlacing(buying('lost'), { maxWaitMs: Number.POSITIVE_INFINITY });
  phone.clockMs = HALF_A_MINUTE_MS;
  const [resumed] = await phone.open().orders.resume();
  expect(await resumed?.ticket.place(buying('lost'))).toMatchObject({ status: 'accepted' });
});

test.each([
  ['of no number is the usual one', Number.NaN, 'accepted'],
  ['that is over already lets nothing leave', -1, 'unsent'],
])('a wait %s', async (_, maxWaitMs, status) => {
  await using phone = await startPhone();
  const { orders, sent } = phone.open();
  const outcome = await orders.ticket({ maxWaitMs }).place(buying('wait'));
  expect(outcome).toMatchObject({ status });
  expect(sent).toHaveLength(status === 'accepted' ? 1 : 0);
});

/** An address at which nobody listens any more. */
async function refusingUrl(): Promise<string> {
  await using server = await listenLocally(createServer());
  return server.url;
}
