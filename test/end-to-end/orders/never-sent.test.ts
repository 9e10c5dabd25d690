import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Environment } from '../../../src/config.ts';
import type { Fault } from '../../../src/sandbox/faults.ts';
import { OperatorFile } from '../../../src/store/sqlite/operator-records.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { dateAhead } from '../../support/date-ahead.ts';
import { eventually } from '../../support/eventually.ts';
import { readMetrics } from '../../support/leaks.ts';
import { limited } from '../../support/limits.ts';
import { temporaryFolder } from '../../support/own-folder.ts';
import { readinessOf } from '../../support/readiness.ts';
import { justNow, type Transport } from './order-client.ts';
import { startOrderFacade } from './order-facade.ts';
import {
  asking,
  buying,
  type GraphQLBody,
  placing,
  TOO_LATE_MS,
  voiding,
  waiting,
  within,
} from './order-request.ts';

const VOIDED = { type: 'OrderRejected', error: 'VOIDED', sent: false };
const EXPIRED = { type: 'OrderRejected', error: 'EXPIRED', sent: false };

const AWAY = { code: 'GATEWAY_UNAVAILABLE', earlierUnknown: true };
/** Faults that keep a token from being proved, and the client's errors. */
const UNPROVED: readonly (readonly [Omit<Fault, 'operation'>, object])[] = [
  [{ kind: 'status', status: 404 }, AWAY],
  [{ kind: 'reset-before' }, AWAY],
  [{ kind: 'delay', delayMs: 600_000 }, AWAY],
  [{ kind: 'garbage' }, AWAY],
  [{ kind: 'status', status: 429 }, { code: 'RATE_LIMITED' }],
];

test.each(['http', 'socket'] as const)(
  'voidOrder closes an unused key for every order, and returns the outcome of a used key (%s)',
  async (transport) => {
    await using facade = await startOrderFacade();
    const { sandbox } = facade;
    const [phone, desk] = [facade.client(), facade.client()];
    expect(await phone.void('k', { transport })).toMatchObject({ ...VOIDED, replayed: false });
    const again = { ...VOIDED, replayed: true };
    for (const order of [buying('k'), buying('k', 'MSFT'), waiting('k')]) {
      expect(await desk.place(order, { transport })).toMatchObject(again);
    }
    expect(await desk.placed('k', { transport })).toMatchObject(again);
    expect(await desk.void('k', { transport })).toMatchObject(again);
    expect(sandbox.orders()).toEqual([]);
    const theirs = facade.client({ email: 'user-2@example.com' });
    expect(await theirs.place(buying('k'), { transport })).toMatchObject({ replayed: false });
    for (const symbol of ['AAPL', 'TEST.REJECT', 'TEST.UNKNOWN']) {
      const placed = await phone.place(buying(`of ${symbol}`, symbol), { transport });
      expect(placed).toMatchObject({ replayed: false });
      expect(await phone.void(`of ${symbol}`, { transport })).toEqual({
        ...placed,
        replayed: true,
      });
    }
    const query = `mutation { voidOrder(idempotencyKey: "of AAPL") { ... on OrderAccepted { positions { id } } } }`;
    const id = sandbox.orders()[1]?.orderId;
    expect(await phone.send({ query, variables: {} }, { transport })).toMatchObject({
      data: { voidOrder: { positions: expect.arrayContaining([{ id }]) } },
    });
    expect(sandbox.calls('openPosition')).toBe(4);
  },
);

test('a key older than the records is closed, and its outcome is not reported', async () => {
  await using facade = await startOrderFacade();
  const client = facade.client();
  for (const made of [new Date(Date.now() - 3_600_000), null, new Date(Date.now() + 3_600_000)]) {
    const key = `made ${made?.toISOString()}`;
    expect(await client.send(voiding(key, made?.toISOString()))).toMatchObject({
      data: { answer: null },
      errors: [
        {
          message: expect.stringContaining('The key is closed'),
          extensions: { code: 'IDEMPOTENCY_UNAVAILABLE', retryable: false },
        },
      ],
    });
    expect(await client.placed(key)).toMatchObject({ code: 'IDEMPOTENCY_UNAVAILABLE' });
    expect(await client.place(buying(key))).toMatchObject(VOIDED);
  }
  expect(facade.sandbox.calls('openPosition')).toBe(0);
});

test('the age of a key is measured by the later of our clock and the gateway’s, because another replica may have dated it', async () => {
  await using facade = await startOrderFacade();
  const client = facade.client();
  const aheadSeconds = 300;
  const headers = dateAhead(aheadSeconds);
  facade.sandbox.fail({ operation: '*', kind: 'delay', headers });
  await eventually(async () => {
    await client.send({ query: '{ customerId }', variables: {} });
    expect(JSON.stringify(await readinessOf(facade.adminUrl))).toContain("gateway's clock is");
  });
  const now = justNow();
  const since = new Date(now.getTime() + 1_000 * aheadSeconds);
  expect(await client.void('made now', { since })).toMatchObject({ ...VOIDED, replayed: false });
  // The key was made before the records began, so an earlier order may have used it.
  const old = await client.void('made five minutes ago', { since: now });
  expect(old).toMatchObject({ code: 'IDEMPOTENCY_UNAVAILABLE', earlierUnknown: true });
});

test('an invalid key or time is refused before the token is proved, and without a proof no key is closed and no order is sent', async () => {
  await using facade = await startOrderFacade({ GATEWAY_TIMEOUT_MS: '300' });
  const { sandbox } = facade;
  const nobody = facade.client({ token: null });
  for (const key of ['', 'k'.repeat(256), '\ud83d']) {
    const refused = { code: 'BAD_USER_INPUT', argument: 'idempotencyKey' };
    expect(await nobody.void(key)).toMatchObject(refused);
  }
  for (const since of ['', 'yesterday', '2026-02-30T00:00:00Z', '2026-11-20T09:30:00']) {
    expect(await nobody.send(voiding('k', since)), since).toMatchObject({
      errors: [{ extensions: { code: 'BAD_USER_INPUT', argument: 'since' } }],
    });
  }
  expect(sandbox.calls()).toBe(0);
  const forged = sandbox.token({ email: 'user-1@example.com', signature: 'forged' });
  for (const client of [facade.client({ token: forged }), nobody]) {
    expect(await client.void('k')).toMatchObject({ kind: 'error', code: 'UNAUTHENTICATED' });
  }
  const [proved, owner] = [facade.client(), facade.client()];
  await proved.placed('none');
  for (const [fault, error] of UNPROVED) {
    sandbox.clearFaults();
    sandbox.fail({ operation: 'getSession', ...fault });
    const since = justNow().toISOString();
    for (const message of [
      ...[voiding('k', since), asking('k')],
      ...[placing(buying('k')), placing(waiting('k'))],
    ]) {
      const transport = message.query.includes('place') ? 'socket' : 'http';
      expect(await owner.send(message, { transport })).toMatchObject({
        errors: [{ extensions: { ...error, retryable: true } }],
      });
    }
  }
  expect(sandbox.orders()).toEqual([]);
  // A proved token can still trade.
  expect(await proved.place(buying('k'))).toMatchObject({ replayed: false });
});

test('closed keys and late orders fill at most half of the account’s records, and late orders have a counter of their own', async () => {
  await using facade = await startOrderFacade({ ORDER_RECORDS_PER_ACCOUNT: '4' });
  const client = facade.client();
  expect(await client.void('k1')).toMatchObject(VOIDED);
  const late = (key: string) => client.place(within(buying(key), TOO_LATE_MS));
  expect(await late('k2')).toMatchObject(EXPIRED);
  expect(await late('k3')).toMatchObject({ code: 'IDEMPOTENCY_UNAVAILABLE' });
  expect(await client.send(voiding('k3', justNow().toISOString()))).toMatchObject({
    errors: [
      {
        message: 'It is unknown whether the key is closed.',
        extensions: {
          code: 'IDEMPOTENCY_UNAVAILABLE',
          retryable: true,
          limit: 'ORDER_RECORDS_PER_ACCOUNT',
        },
      },
    ],
  });
  expect(await client.place(buying('k1'))).toMatchObject({ ...VOIDED, replayed: true });
  expect(await client.place(buying('k3'))).toMatchObject({ replayed: false });
  expect(await readinessOf(facade.url)).toEqual({ status: 'ok' });
  const text = await readMetrics(facade.adminUrl);
  expect(text).toContain('trading_graph_orders_total{outcome="expired"} 1\n');
  expect(text).toContain('trading_graph_orders_total{outcome="rejected"} 0\n');
});

test.each([
  ['http', buying('k')],
  ['socket', waiting('k')],
] as const)(
  'an order that arrives after its `sendBefore` is rejected unsent, and its key is used up (%s)',
  async (transport, order) => {
    await using facade = await startOrderFacade();
    const { sandbox } = facade;
    const client = facade.client();
    const late = await client.place(within(order, TOO_LATE_MS), { transport });
    expect(late).toMatchObject({ ...EXPIRED, replayed: false });
    const again = await client.place(order, { transport });
    expect(again).toMatchObject({ ...EXPIRED, replayed: true });
    expect(sandbox.orders()).toEqual([]);
    const timely = { ...order, input: { ...order.input, idempotencyKey: 'timely' } };
    const sent = await client.place(within(timely, 60_000), { transport });
    expect(sent).toMatchObject({ type: 'OrderAccepted', replayed: false });
    // `sendBefore` itself is not sent to the gateway.
    expect(sandbox.requests().at(-1)?.body).not.toContain('sendBefore');
    expect(await readinessOf(facade.url)).toEqual({ status: 'ok' });
  },
);

test('an order that waits for a connection is not sent after its deadline', async () => {
  // The settings leave one connection for orders.
  await using facade = await startOrderFacade(
    { GATEWAY_CONNECTIONS: '4', ORDER_TIMEOUT_MS: '5000' },
    { slowMs: 400 },
  );
  const { sandbox } = facade;
  const client = facade.client();
  await client.placed('none');
  const slow = client.place(buying('slow', 'TEST.SLOW'));
  await eventually(() => expect(sandbox.calls('openPosition')).toBe(1));
  const late = client.place(within(buying('late'), 50));
  const timely = client.place(within(buying('timely'), 60_000));
  expect(await slow).toMatchObject({ type: 'OrderAccepted' });
  expect(await late).toMatchObject({ ...EXPIRED, replayed: false });
  expect(await timely).toMatchObject({ type: 'OrderAccepted' });
  expect(sandbox.orders().map(({ comment }) => comment)).toEqual(['slow', 'timely']);
});

test.each([
  ['behind', 600, 300_000, EXPIRED],
  ['ahead of', -600, -570_000, { type: 'OrderAccepted' }],
  // A gateway's date has whole seconds, so a clock that differs by less counts as equal.
  ['not', 0, 300_000, { type: 'OrderAccepted' }],
])(
  'if our clock is %s the gateway’s, the gateway’s clock decides, and keys made by it are accepted',
  async (_, shiftSeconds, inMs, outcome) => {
    await using facade = await startOrderFacade();
    const { sandbox } = facade;
    const headers = shiftSeconds === 0 ? {} : dateAhead(shiftSeconds);
    sandbox.fail({ operation: '*', kind: 'delay', headers });
    const token = sandbox.token({ email: 'user-1@example.com' });
    for (let call = 0; call < 10; call += 1) await facade.query('{ customerId }', { token });
    const client = facade.client({ token });
    const { mutation, input } = within(buying('k'), inMs);
    const keyMade = new Date(Date.now() + 1_000 * shiftSeconds).toISOString();
    expect(await client.place({ mutation, input: { ...input, keyMade } })).toMatchObject(outcome);
    expect(sandbox.orders()).toHaveLength(shiftSeconds > 0 ? 0 : 1);
    const ready = await readinessOf(facade.adminUrl);
    expect(ready.reasons).toEqual(shiftSeconds === 0 ? undefined : ['clock']);
  },
);

test('while an operator holds orders back, they are refused without using up their keys, and recorded orders are answered', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'orders.db');
  await using facade = await startOrderFacade({ ORDER_STORE: path });
  const { sandbox } = facade;
  const client = facade.client();
  const placed = await client.place(buying('before'));
  const operator = new OperatorFile({ path, max: 100, onWarn() {} });
  await operator.hold(true);
  for (const order of [buying('k'), waiting('l')]) {
    expect(await client.send(placing(order))).toMatchObject({
      errors: [
        {
          message: 'Orders are held back for now: this request was not sent.',
          extensions: { code: 'GATEWAY_UNAVAILABLE', retryable: true },
        },
      ],
    });
  }
  expect(await client.place(buying('before'))).toEqual({ ...placed, replayed: true });
  expect(await readinessOf(facade.adminUrl)).toMatchObject({ reasons: ['order-store'] });
  expect(sandbox.orders()).toHaveLength(1);
  await operator.hold(false);
  operator.close();
  for (const order of [buying('k'), waiting('l')]) {
    expect(await client.place(order)).toMatchObject({ type: 'OrderAccepted', replayed: false });
  }
  expect(sandbox.orders()).toHaveLength(3);
});

test('an error says `sent: false` only for its own request, and an unsent order has a reason', async () => {
  await using facade = await startOrderFacade({ ORDER_RECORDS_PER_ACCOUNT: '40' });
  const { sandbox } = facade;
  const client = facade.client();
  const extensionsOf = async (order: ReturnType<typeof buying>, by = client) => {
    const body = (await by.send(placing(order))) as GraphQLBody;
    return body.errors?.[0]?.extensions;
  };
  const reasonOf = (order: ReturnType<typeof buying>) =>
    client.send(placing(order, '{ ... on OrderRejected { reason sent } }'));
  // The first order proves the token.
  expect(await extensionsOf(buying('k1'))).toBeUndefined();
  const { mutation, input } = buying('k2');
  const wrong = { mutation, input: { ...input, size: { units: 0 } } };
  expect(await extensionsOf(wrong)).toMatchObject({ code: 'BAD_USER_INPUT', sent: false });
  const unproved = facade.client({ email: 'user-2@example.com' });
  sandbox.fail({ operation: 'getSession', kind: 'status', status: 429, times: 9 });
  expect(await extensionsOf(buying('k2'), unproved)).toMatchObject({
    code: 'RATE_LIMITED',
    sent: false,
  });
  // An order that was sent, and that the gateway refused, does not have it.
  sandbox.fail({ operation: 'openPosition', kind: 'status', status: 429, times: 1 });
  const refused = await extensionsOf(buying('k2'));
  expect(refused).toMatchObject({ code: 'RATE_LIMITED' });
  expect(refused).not.toHaveProperty('sent');
  const answer = { reason: 'EXPIRED', sent: false };
  expect(await reasonOf(within(buying('k3'), TOO_LATE_MS))).toEqual({ data: { answer } });
  await client.void('k4');
  expect(await reasonOf(buying('k4'))).toMatchObject({ data: { answer: { reason: 'VOIDED' } } });
  expect(await reasonOf(buying('k5', 'TEST.REJECT'))).toMatchObject({
    data: { answer: { reason: null, sent: true } },
  });
});

/** Documents whose operation is refused before any field is executed. */
const REFUSED: readonly (readonly [string, Environment, (field: string) => string])[] = [
  ['RATE_LIMITED', { RATE_LIMIT_PER_MINUTE: '1' }, (field) => `{ ${field} }`],
  ['QUERY_TOO_COMPLEX', { MAX_DEPTH: '1' }, (field) => `{ ${field} }`],
  ['GRAPHQL_VALIDATION_FAILED', {}, (field) => `{ ${field} nothing }`],
  ['BAD_USER_INPUT', {}, (field) => `($no: Boolean!) { ... @skip(if: $no) { ${field} } }`],
  ['GRAPHQL_PARSE_FAILED', {}, (field) => `{ ${field}`],
];

test.each(REFUSED)(
  'an order refused with %s has `sent: false`, and a query refused in the same way does not',
  async (code, environment, rest) => {
    await using facade = await startOrderFacade(environment);
    const client = facade.client();
    const refusal = async (query: string, transport: Transport) => {
      for (let times = 0; times < 50; times += 1) {
        const body = await client.send({ query, variables: {} }, { transport });
        const [error] = body === 'cut' ? [] : (body.errors ?? []);
        if (error?.extensions.code === code) return error.extensions;
      }
      throw new Error(`Never refused with ${code}`);
    };
    const order = `placeOrder(input: { symbol: "AAPL", side: BUY, kind: MARKET, size: { amount: 20 }, idempotencyKey: "k" }) { __typename ... on OrderAccepted { positions { id } } }`;
    for (const transport of ['http', 'socket'] as const) {
      expect(await refusal(`mutation ${rest(order)}`, transport)).toHaveProperty('sent', false);
      expect(await refusal(`query ${rest('session { login }')}`, transport)).not.toHaveProperty(
        'sent',
      );
    }
  },
);

test('an order that is refused before it is parsed, for its size, type or rate, has `sent: false`', async () => {
  const { query, variables } = placing(buying('k'));
  const order = JSON.stringify({ query, variables });
  const post = (to: TestApp, body: BodyInit, own: Readonly<Record<string, string>> = {}) => {
    const headers = { 'content-type': 'application/json', ...own };
    return fetch(`${to.url}/graphql`, { method: 'POST', headers, body });
  };
  const notSent = { errors: [{ extensions: { sent: false } }] };
  await using app = await startTestApp();
  for (const [status, answer] of [
    [413, await post(app, order.padEnd(1_100_000))],
    [415, await post(app, order, { 'content-type': 'text/plain' })],
  ] as const) {
    expect([answer.status, await answer.json()]).toMatchObject([status, notSent]);
  }
  await using strict = await startTestApp({}, { limits: limited('messages', 8) });
  for (let times = 0, status = 0; status !== 429; times += 1) {
    expect(times).toBeLessThan(20);
    const answer = await post(strict, order);
    ({ status } = answer);
    const body = await answer.json();
    if (status === 429) expect(body).toMatchObject(notSent);
  }
});
