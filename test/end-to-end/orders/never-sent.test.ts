import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Environment } from '../../../src/config.ts';
import type { Fault } from '../../../src/sandbox/faults.ts';
import { keyTimeOf } from '../../../src/store/order-key.ts';
import { OperatorFile } from '../../../src/store/sqlite/sqlite-operator.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { dateAhead } from '../../support/date-ahead.ts';
import { eventually } from '../../support/eventually.ts';
import { limited } from '../../support/limits.ts';
import { keyOf, PLAIN_KEYS } from '../../support/order-keys.ts';
import { temporaryFolder } from '../../support/own-folder.ts';
import { readinessOf } from '../../support/readiness.ts';
import type { Transport } from './order-client.ts';
import { startOrderFacade } from './order-facade.ts';
import {
  type GraphQLBody,
  limitOrder,
  marketOrder,
  placedOrderQuery,
  placeMutation,
  TOO_LATE_MS,
  voidMutation,
  withSendBefore,
} from './order-request.ts';

/** The outcome of a closed key. `voidOrder` closes a key: from then on no order with this key is sent. */
const VOIDED = { type: 'OrderRejected', error: 'VOIDED', sent: false };
const EXPIRED = { type: 'OrderRejected', error: 'EXPIRED', sent: false };

const UNAVAILABLE = { code: 'GATEWAY_UNAVAILABLE', earlierUnknown: true };
/** Faults by which a token cannot be proved, each with the error that the client gets. */
const UNPROVED: readonly (readonly [Omit<Fault, 'operation'>, object])[] = [
  [{ kind: 'status', status: 404 }, UNAVAILABLE],
  [{ kind: 'reset-before' }, UNAVAILABLE],
  [{ kind: 'delay', delayMs: 600_000 }, UNAVAILABLE],
  [{ kind: 'garbage' }, UNAVAILABLE],
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
    for (const order of [marketOrder('k'), marketOrder('k', 'MSFT'), limitOrder('k')]) {
      expect(await desk.place(order, { transport })).toMatchObject(again);
    }
    expect(await desk.placedOrder('k', { transport })).toMatchObject(again);
    expect(await desk.void('k', { transport })).toMatchObject(again);
    expect(sandbox.orders()).toEqual([]);
    const other = facade.client({ email: 'user-2@example.com' });
    expect(await other.place(marketOrder('k'), { transport })).toMatchObject({ replayed: false });
    for (const symbol of ['AAPL', 'TEST.REJECT', 'TEST.UNKNOWN']) {
      const key = `of ${symbol}`;
      const placed = await phone.place(marketOrder(key, symbol), { transport });
      expect(placed).toMatchObject({ replayed: false });
      expect(await phone.void(key, { transport })).toEqual({ ...placed, replayed: true });
    }
    const query = `mutation { voidOrder(idempotencyKey: "${keyOf('of AAPL')}") { ... on OrderAccepted { positions { id } } } }`;
    const id = sandbox.orders()[1]?.orderId;
    expect(await phone.send({ query, variables: {} }, { transport })).toMatchObject({
      data: { voidOrder: { positions: expect.arrayContaining([{ id }]) } },
    });
    expect(sandbox.calls('openPosition')).toBe(4);
  },
);

test('a key that is older than the records, or ahead, sends nothing and gets one answer from every field', async () => {
  await using facade = await startOrderFacade();
  const client = facade.client();
  const messages = (name: string, key: string) => [
    voidMutation(name, key),
    { ...placedOrderQuery(name), variables: { key } },
    placeMutation(marketOrder(name, 'AAPL', key)),
  ];
  for (const message of messages('old', keyOf('old', Date.now() - 24 * 3_600_000))) {
    expect(await client.send(message)).toMatchObject({
      data: { answer: null },
      errors: [
        {
          message:
            'This request was not sent. If you have sent this key before, that order may have traded: do not place it again.',
          extensions: { code: 'IDEMPOTENCY_UNAVAILABLE', retryable: false, earlierUnknown: true },
        },
      ],
    });
  }
  for (const message of messages('ahead', keyOf('ahead', Date.now() + 60_000))) {
    const [error] = ((await client.send(message)) as GraphQLBody).errors ?? [];
    const argument = 'input' in message.variables ? 'input.idempotencyKey' : 'idempotencyKey';
    expect(error?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', argument });
    const [, now = ''] = /over 2 seconds ahead: it is (\S+) here/.exec(error?.message ?? '') ?? [];
    expect(Math.abs(Date.parse(now) - Date.now())).toBeLessThan(30_000);
  }
  expect(facade.sandbox.calls('openPosition')).toBe(0);
});

test('keys, their judgement and `Date` follow the gateway’s clock where it is ahead', async () => {
  await using facade = await startOrderFacade();
  const client = facade.client();
  const aheadMs = 300_000;
  facade.sandbox.fail({ operation: '*', kind: 'delay', headers: dateAhead(aheadMs / 1_000) });
  await eventually(async () => {
    await client.send({ query: '{ customerId }', variables: {} });
    expect(JSON.stringify(await readinessOf(facade.adminUrl))).toContain("gateway's clock is");
  });
  const { data, headers } = await facade.query('mutation { newOrderKey }');
  const dates = [keyTimeOf(data.newOrderKey) ?? 0, Date.parse(headers.get('date') ?? '')];
  for (const ms of dates) expect(Math.abs(ms - Date.now() - aheadMs)).toBeLessThan(30_000);
  const placed = await client.place(marketOrder('made there', 'AAPL', data.newOrderKey));
  expect(placed).toMatchObject({ type: 'OrderAccepted', replayed: false });
});

test('no key is made ahead because the gateway takes seconds to answer', async () => {
  await using facade = await startOrderFacade();
  facade.sandbox.fail({ operation: 'getSession', kind: 'delay', delayMs: 4_000 });
  await facade.client().send({ query: '{ session { id } }', variables: {} });
  const { data } = await facade.query('mutation { newOrderKey }');
  expect((keyTimeOf(data.newOrderKey) ?? 0) - Date.now()).toBeLessThan(1_000);
});

test('newOrderKey needs no token and no gateway, and gives each order its own key', async () => {
  await using facade = await startOrderFacade();
  const { data } = await facade.query('mutation { a: newOrderKey b: newOrderKey }');
  expect(data.a).not.toBe(data.b);
  for (const key of [data.a, data.b]) {
    expect(Math.abs((keyTimeOf(key) ?? 0) - Date.now())).toBeLessThan(30_000);
  }
  expect(facade.sandbox.calls()).toBe(0);
});

test('a key without a time and an unproved token neither close a key nor send an order', async () => {
  await using facade = await startOrderFacade({ GATEWAY_TIMEOUT_MS: '300' });
  const { sandbox } = facade;
  const nobody = facade.client({ token: null });
  // Invalid arguments are refused before the token is examined.
  const refused = { message: expect.stringContaining('newOrderKey') };
  for (const key of PLAIN_KEYS) {
    for (const message of [
      voidMutation('', key),
      { ...placedOrderQuery(''), variables: { key } },
      placeMutation(marketOrder('', 'AAPL', key)),
    ]) {
      expect(await nobody.send(message), key).toMatchObject({
        errors: [{ ...refused, extensions: { code: 'BAD_USER_INPUT' } }],
      });
    }
  }
  expect(sandbox.calls()).toBe(0);
  const forged = sandbox.token({ email: 'user-1@example.com', signature: 'forged' });
  for (const client of [facade.client({ token: forged }), nobody]) {
    expect(await client.void('k')).toMatchObject({ kind: 'error', code: 'UNAUTHENTICATED' });
  }
  const [proved, owner] = [facade.client(), facade.client()];
  await proved.placedOrder('none');
  for (const [fault, error] of UNPROVED) {
    sandbox.clearFaults();
    sandbox.fail({ operation: 'getSession', ...fault });
    for (const message of [
      voidMutation('k'),
      placedOrderQuery('k'),
      placeMutation(marketOrder('k')),
      placeMutation(limitOrder('k')),
    ]) {
      // Both transports are tested: voids go over HTTP, and the other messages over a socket.
      const transport = message.query.includes('place') ? 'socket' : 'http';
      expect(await owner.send(message, { transport })).toMatchObject({
        errors: [{ extensions: { ...error, retryable: true } }],
      });
    }
  }
  expect(sandbox.orders()).toEqual([]);
  // The token of this client was proved before the faults. Its order is sent, so no message above has closed the key.
  expect(await proved.place(marketOrder('k'))).toMatchObject({ replayed: false });
});

test.each([
  ['http', marketOrder('k')],
  ['socket', limitOrder('k')],
] as const)(
  'an order that arrives after its `sendBefore` is rejected unsent, and its key is used up (%s)',
  async (transport, order) => {
    await using facade = await startOrderFacade();
    const { sandbox } = facade;
    const client = facade.client();
    const late = await client.place(withSendBefore(order, TOO_LATE_MS), { transport });
    expect(late).toMatchObject({ ...EXPIRED, replayed: false });
    const again = await client.place(order, { transport });
    expect(again).toMatchObject({ ...EXPIRED, replayed: true });
    expect(sandbox.orders()).toEqual([]);
    const timely = { ...order, input: { ...order.input, idempotencyKey: keyOf('timely') } };
    const sent = await client.place(withSendBefore(timely, 60_000), { transport });
    expect(sent).toMatchObject({ type: 'OrderAccepted', replayed: false });
    // `sendBefore` itself is not sent to the gateway.
    expect(sandbox.requests().at(-1)?.body).not.toContain('sendBefore');
    expect(await readinessOf(facade.url)).toEqual({ status: 'ok' });
  },
);

test('`sendBefore` is compared with the gateway’s clock, not with ours', async () => {
  await using facade = await startOrderFacade();
  const { sandbox } = facade;
  const client = facade.client();
  sandbox.fail({ operation: '*', kind: 'delay', headers: dateAhead(600) });
  // The service learns the gateway's clock from several answers.
  for (let call = 0; call < 10; call += 1) {
    await client.send({ query: '{ customerId }', variables: {} });
  }
  // The key has the gateway's time. `sendBefore` is five minutes ahead of our clock, but five minutes behind the gateway's.
  const key = keyOf('k', Date.now() + 600_000);
  const order = withSendBefore(marketOrder('k', 'AAPL', key), 300_000);
  expect(await client.place(order)).toMatchObject(EXPIRED);
  expect(sandbox.orders()).toEqual([]);
  expect(await readinessOf(facade.adminUrl)).toMatchObject({ reasons: ['clock'] });
});

test('while an operator holds orders back, new orders are refused without using up their keys', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'orders.db');
  await using facade = await startOrderFacade({ ORDER_STORE: path });
  const { sandbox } = facade;
  const client = facade.client();
  const placed = await client.place(marketOrder('before'));
  const operator = new OperatorFile({ path, max: 100, onWarn() {} });
  await operator.hold(true);
  for (const order of [marketOrder('k'), limitOrder('l')]) {
    expect(await client.send(placeMutation(order))).toMatchObject({
      errors: [
        {
          message: 'Orders are held back for now: this request was not sent.',
          extensions: { code: 'GATEWAY_UNAVAILABLE', retryable: true },
        },
      ],
    });
  }
  expect(await client.place(marketOrder('before'))).toEqual({ ...placed, replayed: true });
  expect(await readinessOf(facade.adminUrl)).toMatchObject({ reasons: ['orders-held'] });
  expect(sandbox.orders()).toHaveLength(1);
  await operator.hold(false);
  operator.close();
  for (const order of [marketOrder('k'), limitOrder('l')]) {
    expect(await client.place(order)).toMatchObject({ type: 'OrderAccepted', replayed: false });
  }
  expect(sandbox.orders()).toHaveLength(3);
});

test('an answer has `sent: false` only if its own request was not sent', async () => {
  await using facade = await startOrderFacade({ ORDER_RECORDS_PER_ACCOUNT: '40' });
  const { sandbox } = facade;
  const client = facade.client();
  const extensionsOf = async (order: ReturnType<typeof marketOrder>, by = client) => {
    const body = (await by.send(placeMutation(order))) as GraphQLBody;
    return body.errors?.[0]?.extensions;
  };
  const reasonOf = (order: ReturnType<typeof marketOrder>) =>
    client.send(placeMutation(order, '{ ... on OrderRejected { reason sent } }'));
  // The first order proves the token.
  expect(await extensionsOf(marketOrder('k1'))).toBeUndefined();
  const { mutation, input } = marketOrder('k2');
  const wrong = { mutation, input: { ...input, size: { units: 0 } } };
  expect(await extensionsOf(wrong)).toMatchObject({ code: 'BAD_USER_INPUT', sent: false });
  const unproved = facade.client({ email: 'user-2@example.com' });
  sandbox.fail({ operation: 'getSession', kind: 'status', status: 429, times: 9 });
  expect(await extensionsOf(marketOrder('k2'), unproved)).toMatchObject({
    code: 'RATE_LIMITED',
    sent: false,
  });
  // The error of an order that the gateway itself refused has no `sent`.
  sandbox.fail({ operation: 'openPosition', kind: 'status', status: 429, times: 1 });
  const refused = await extensionsOf(marketOrder('k2'));
  expect(refused).toMatchObject({ code: 'RATE_LIMITED' });
  expect(refused).not.toHaveProperty('sent');
  const answer = { reason: 'EXPIRED', sent: false };
  const late = withSendBefore(marketOrder('k3'), TOO_LATE_MS);
  expect(await reasonOf(late)).toEqual({ data: { answer } });
  await client.void('k4');
  const voided = { data: { answer: { reason: 'VOIDED' } } };
  expect(await reasonOf(marketOrder('k4'))).toMatchObject(voided);
  expect(await reasonOf(marketOrder('k5', 'TEST.REJECT'))).toMatchObject({
    data: { answer: { reason: null, sent: true } },
  });
});

/** Refusals before execution: the code, and the settings and the operation (for a given field) that provoke the refusal. */
const REFUSED: readonly (readonly [string, Environment, (field: string) => string])[] = [
  ['RATE_LIMITED', { RATE_LIMIT_PER_MINUTE: '1' }, (field) => `{ ${field} }`],
  ['GRAPHQL_VALIDATION_FAILED', {}, (field) => `{ ${field} nothing }`],
  ['GRAPHQL_PARSE_FAILED', {}, (field) => `{ ${field}`],
];

test.each(REFUSED)(
  'an order refused with %s has `sent: false`, and a query refused in the same way does not',
  async (code, environment, refusedOperation) => {
    await using facade = await startOrderFacade(environment);
    const client = facade.client();
    const refusalOf = async (query: string, transport: Transport) => {
      // The rate limit is reached only after some requests.
      for (let times = 0; times < 50; times += 1) {
        const body = await client.send({ query, variables: {} }, { transport });
        const [error] = body === 'cut' ? [] : (body.errors ?? []);
        if (error?.extensions.code === code) return error.extensions;
      }
      throw new Error(`Never refused with ${code}`);
    };
    const order = `placeOrder(input: { symbol: "AAPL", side: BUY, kind: MARKET, size: { amount: 20 }, idempotencyKey: "${keyOf('k')}" }) { __typename ... on OrderAccepted { positions { id } } }`;
    for (const transport of ['http', 'socket'] as const) {
      const refusedOrder = await refusalOf(`mutation ${refusedOperation(order)}`, transport);
      expect(refusedOrder).toHaveProperty('sent', false);
      const session = refusedOperation('session { login }');
      expect(await refusalOf(`query ${session}`, transport)).not.toHaveProperty('sent');
    }
  },
);

test('an order that is refused before it is parsed, for its size, type or rate, has `sent: false`', async () => {
  const { query, variables } = placeMutation(marketOrder('k'));
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
  let answer = await post(strict, order);
  for (let times = 0; answer.status !== 429; times += 1) {
    expect(times).toBeLessThan(20);
    await answer.body?.cancel();
    answer = await post(strict, order);
  }
  expect(await answer.json()).toMatchObject(notSent);
});
