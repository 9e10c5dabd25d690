import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { VERDICT } from '../../../src/gateway/operations/conventions.ts';
import { startTestApp } from '../../support/app.ts';
import { buying } from '../../support/buying.ts';
import { eventually } from '../../support/eventually.ts';
import { keyOf } from '../../support/order-keys.ts';
import { rawPost } from '../../support/raw-request.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { inSeconds, unsignedToken } from '../../support/tokens.ts';
import { codesOf, TRANSPORTS } from '../limits/every-transport.ts';
import { initializedSocket, openSocket } from '../live/raw-socket.ts';
import { lineOf, linesOf } from './request-lines.ts';

const HOME = 'query Home { session { balance } positions { id } customerId }';
const LIVE = 'subscription Live { positionChanges { cursor } }';
const LOG_ACCOUNT_KEY = 'the key of the accounts in the log';

const hashed = (loginOrAddress: number | string) =>
  createHmac('sha256', LOG_ACCOUNT_KEY).update(String(loginOrAddress)).digest('hex').slice(0, 16);

describe('each request has one log line', () => {
  test('with its operation, gateway calls, size and account', async () => {
    await using app = await startTestApp({ LOG_ACCOUNT_KEY });
    const token = await app.signIn();
    const headers = {
      'x-request-id': 'home-1',
      'apollographql-client-name': 'web',
      'apollographql-client-version': '1.2.3',
    };
    const answer = await app.query(HOME, { token, headers });
    expect(answer.errors).toEqual([]);
    expect(answer.headers.get('x-request-id')).toBe('home-1');
    const line = await lineOf(app, 'request', 'home-1');
    expect(line).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-/),
      requestId: 'home-1',
      transport: 'http',
      method: 'POST',
      status: 200,
      operationName: 'Home',
      type: 'query',
      document: 'other',
      outcome: 'ok',
      durationMs: expect.any(Number),
      calls: expect.any(Array),
      bytesOut: Number(answer.headers.get('content-length')),
      account: hashed(700001),
      client: 'web',
      clientVersion: '1.2.3',
      msg: 'request',
    });
    const results = line.calls.map((call: string) => call.replace(/ [\d.]+ms$/, ''));
    expect(results.sort()).toEqual(['getCustomerId ok', 'getOpenPositions ok', 'getSession ok']);
    await app.query('query Again { session { balance } }', { token });
    await eventually(() => {
      const [again] = linesOf(app, 'request').filter((each) => each.operationName === 'Again');
      expect(again?.calls).toEqual([expect.stringMatching(/^getSession cache /)]);
    });
    // The sign-in has a line too.
    expect(linesOf(app, 'request')).toHaveLength(3);
  });

  test('with its error codes and outcome, and the hashed address if the client caused the error', async () => {
    await using app = await startTestApp({
      LOG_LEVEL: 'debug',
      LOG_ACCOUNT_KEY,
      TRUSTED_PROXIES: '127.0.0.1',
    });
    const token = await app.signIn();
    const forged = unsignedToken({ login: 700001, group: 'standard-usd', exp: inSeconds(600) });
    app.sandbox.fail({ operation: 'getCustomerId', kind: 'status', status: 500 });
    app.sandbox.fail({ operation: 'getOpenPositions', kind: 'status', status: 429 });
    const headersOf = (id: string) => ({
      'x-request-id': id,
      'x-forwarded-for': '2001:db8:1:2:3:4:5:6',
    });
    const ask = (query: string, as: string | null, id: string) =>
      app.query(query, { token: as, headers: headersOf(id) });
    const post = (body: string, id: string) => rawPost(`${app.url}/graphql`, body, headersOf(id));
    await ask('{ customerId }', token, 'fault');
    await ask('{ positions { id } }', token, 'limited-by-gateway');
    await ask('{ nothing }', token, 'caller');
    await ask('{ session { balance } }', null, 'no-token');
    await ask('{ session { balance } }', forged, 'forged');
    await post('{"query":', 'cut');
    await post('x'.repeat(300_000), 'large');
    for (const [id, outcome, code, status] of [
      ['fault', 'fault', 'GATEWAY_UNAVAILABLE', 200],
      ['limited-by-gateway', 'fault', 'RATE_LIMITED', 200],
      ['caller', 'caller', 'GRAPHQL_VALIDATION_FAILED', 200],
      ['no-token', 'caller', 'UNAUTHENTICATED', 200],
      ['forged', 'caller', 'UNAUTHENTICATED', 200],
      ['cut', 'caller', 'GRAPHQL_PARSE_FAILED', 400],
      ['large', 'caller', 'PAYLOAD_TOO_LARGE', 413],
    ] as const) {
      const line = await lineOf(app, 'request', id);
      expect(line).toMatchObject({ outcome, codes: [code], status });
      // A slow request has its address too, and on a busy machine any request can be slow.
      const hasAddress = outcome === 'caller' || line.durationMs >= 1_000;
      expect(line.address).toBe(hasAddress ? hashed('2001:db8:1:2::/64') : undefined);
    }
    const failed = await lineOf(app, 'a field failed', 'fault');
    expect(failed.reason).toBe('getCustomerId: status 500');
    const { calls } = await lineOf(app, 'request', 'fault');
    // The call and its two retries.
    expect(calls).toEqual(Array(3).fill(expect.stringMatching(/^getCustomerId 5xx /)));
    // A token that the gateway has not accepted proves no account: the line has only its claim.
    const claimed = await lineOf(app, 'request', 'forged');
    expect([claimed.claimedAccount, claimed.account]).toEqual([hashed(700001), undefined]);
  });
});

test.each(TRANSPORTS)(
  'a request by %s has one line, with its hashed address if it is unauthenticated or over a limit',
  async (_name, ask) => {
    await using app = await startTestApp({ LOG_ACCOUNT_KEY, RATE_LIMIT_PER_MINUTE: '6' });
    const token = app.sandbox.token({ email: 'demo@example.com' });
    const lastLine = async (outcome: string) => {
      await eventually(() => expect(linesOf(app, 'request').at(-1)?.outcome).toBe(outcome));
      return linesOf(app, 'request').at(-1) ?? {};
    };
    expect(codesOf(await ask(app, { query: HOME }, token))).toEqual([]);
    const healthy = await lastLine('ok');
    expect(linesOf(app, 'request')).toHaveLength(1);
    expect(healthy).toMatchObject({ type: 'query', operationName: 'Home' });
    expect(healthy.bytesOut).toBeGreaterThan(100);
    await ask(app, { query: 'query Wrong { nothing }' }, token);
    expect(await lastLine('caller')).toMatchObject({ codes: ['GRAPHQL_VALIDATION_FAILED'] });
    const address = hashed('127.0.0.1');
    await ask(app, { query: '{ session { login } }' });
    await eventually(() => expect(linesOf(app, 'request')).toHaveLength(3));
    expect(await lastLine('caller')).toMatchObject({ codes: ['UNAUTHENTICATED'], address });
    for (let request = 0; request < 6; request += 1) await ask(app, { query: '{ __typename }' });
    expect(await lastLine('refused')).toMatchObject({ codes: ['RATE_LIMITED'], address });
  },
);

test('a subscription gets its one log line when it is completed or its socket closes', async () => {
  await using app = await startTestApp();
  const token = await app.signIn();
  using socket = await openSocket(app);
  const client = { 'apollographql-client-name': 'ios', 'apollographql-client-version': '7' };
  const payload = { authorization: `Bearer ${token}`, ...client };
  socket.send({ type: 'connection_init', payload });
  socket.subscribe('1', LIVE);
  await socket.until('1', 'next');
  expect(linesOf(app, 'subscription ended')).toEqual([]);
  socket.send({ id: '1', type: 'complete' });
  const ended = await lineOf(app, 'subscription ended');
  expect(ended).toMatchObject({
    transport: 'websocket',
    operationName: 'Live',
    account: expect.stringMatching(/^[\da-f]{16}$/),
    client: 'ios',
    clientVersion: '7',
    outcome: 'ok',
    events: 1,
  });
  expect(ended.bytesOut).toBeGreaterThan(50);
  await socket.watch('2', LIVE);
  socket.socket.terminate();
  await eventually(() => expect(linesOf(app, 'subscription ended')).toHaveLength(2));
  const last = linesOf(app, 'subscription ended')[1];
  expect(last).toMatchObject({ outcome: 'ok', events: 1 });
});

test('at most a hundred refused requests are logged in a minute', async () => {
  const clock = createScriptedClock();
  await using app = await startTestApp(
    { RATE_LIMIT_PER_MINUTE: '1' },
    { connections: { clock }, refills: false },
  );
  const outcomes = () => linesOf(app, 'request').map(({ outcome }) => outcome);
  for (let sent = 0; sent < 110; sent += 1) await app.query('{ __typename }');
  // The first request is accepted.
  await eventually(() => expect(outcomes()).toHaveLength(101));
  expect(outcomes().slice(1)).toEqual(Array(100).fill('refused'));
  await clock.advance(60_000);
  await app.query('{ __typename }');
  await eventually(() => expect(outcomes()).toHaveLength(102));
});

test('LOG_SAMPLE leaves out healthy queries and subscriptions, but logs failures, slow queries and mutations', async () => {
  await using app = await startTestApp({ LOG_SAMPLE: '0' });
  const token = app.sandbox.token({ email: 'demo@example.com' });
  const ask = (requestId: string, query: string) =>
    app.query(query, { token, headers: { 'x-request-id': requestId } });
  await ask('healthy', HOME);
  await ask('wrong', '{ nothing }');
  app.sandbox.fail({ operation: 'getCustomerId', kind: 'delay', delayMs: 1_050, times: 1 });
  await ask('slow', '{ customerId }');
  expect(await lineOf(app, 'request', 'slow')).toMatchObject({
    outcome: 'ok',
    address: expect.stringMatching(/^[0-9a-f]{16}$/),
  });
  await lineOf(app, 'request', 'wrong');
  app.sandbox.fail({ operation: 'openPosition', kind: 'reset-after', times: 1 });
  await ask('order', buying('sampled', '__typename'));
  expect(await lineOf(app, 'request', 'order')).toMatchObject({ outcome: 'ok', type: 'mutation' });
  expect(await lineOf(app, 'an order ended unknown', 'order')).toMatchObject({
    level: 'warn',
    sentAt: expect.stringMatching(/^\d{4}-.*Z$/),
  });
  const logged = linesOf(app, 'request').map(({ requestId }) => requestId);
  expect(logged).toEqual(['wrong', 'slow', 'order']);
  using socket = await initializedSocket(app, token);
  await socket.watch('1', LIVE);
  socket.send({ id: '1', type: 'complete' });
  socket.subscribe('2', '{ nothing }');
  await eventually(() => expect(linesOf(app, 'request')).toHaveLength(4));
  expect(linesOf(app, 'subscription ended')).toEqual([]);
});

test('client names, request ids and operation names are logged shortened and without secrets', async () => {
  await using app = await startTestApp();
  const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJsb2dpbiI6IjcwMDAwMSJ9.Y2FuYXJ5';
  await app.query('query call_4915198765432 { __typename }', {
    headers: {
      'x-request-id': jwt,
      'apollographql-client-name': 'canary@example.com',
      'apollographql-client-version': '4915198765432',
    },
  });
  await app.query(`query ${'long'.repeat(100)} { __typename }`, {
    headers: { 'apollographql-client-name': 'x'.repeat(500) },
  });
  await eventually(() => expect(linesOf(app, 'request')).toHaveLength(2));
  const [first, second] = linesOf(app, 'request');
  const written = JSON.stringify([first, second]);
  for (const secret of ['Y2FuYXJ5', 'canary@', '4915198765432', 'xxxx']) {
    expect(written).not.toContain(secret);
  }
  expect(second?.operationName.length).toBe(80);
  expect([first?.client, second?.client]).toEqual([undefined, undefined]);
});

test('each order has a log line with the hash of its key, its input and its outcome', async () => {
  await using app = await startTestApp({ LOG_ACCOUNT_KEY });
  const token = await app.signIn();
  const orderLine = async (document: string, requestId: string) => {
    await app.query(document, { token, headers: { 'x-request-id': requestId } });
    return lineOf(app, 'order', requestId);
  };
  const accepted = await orderLine(buying('6f1c', '__typename'), 'first');
  expect(accepted).toMatchObject({
    key: hashed(keyOf('6f1c')),
    kind: 'MARKET',
    symbol: 'AAPL',
    side: 'BUY',
    size: { by: 'units', value: 1 },
    price: null,
    outcome: 'accepted',
    orderId: expect.stringMatching(/^\d+$/),
    replayed: false,
  });
  const repeated = await orderLine(buying('6f1c', '__typename'), 'second');
  expect(repeated).toMatchObject({ orderId: accepted.orderId, replayed: true });
  const pending = `mutation { placeLimitOrder(input: { symbol: "AAPL", side: SELL, amount: 100, price: 9999, idempotencyKey: "${keyOf('p')}" }) { __typename } }`;
  expect(await orderLine(pending, 'third')).toMatchObject({ kind: 'PENDING', price: 9999 });
  app.sandbox.fail({ operation: 'openPosition', kind: 'status', status: 429, times: 1 });
  expect(await orderLine(buying('refused', '__typename'), 'fourth')).toMatchObject({
    outcome: 'failed',
    error: 'GatewayError',
    reason: 'rate-limited',
    status: 429,
  });
  const other = buying('6f1c', '__typename').replace('units: 1', 'units: 2');
  expect(await orderLine(other, 'fifth')).toMatchObject({ outcome: 'unsent', error: 'InputError' });
  const body = { [VERDICT]: false, error: 'closed', message: 'Call trader@example.com.' };
  app.sandbox.fail({ operation: 'openPosition', kind: 'status', status: 400, body, times: 1 });
  const rejected = await orderLine(
    buying('rejected', '__typename').replace('AAPL', 'A'.repeat(100)),
    'sixth',
  );
  expect(rejected).toMatchObject({ outcome: 'rejected', error: 'closed', message: 'Call […].' });
  expect(rejected.symbol).toBe('A'.repeat(64));
  const personal = buying('personal', '__typename').replace('AAPL', 'demo@example.com');
  expect((await orderLine(personal, 'seventh')).symbol).toBe('[…]');
  const fault = { operation: 'openPosition', kind: 'status', times: 1 } as const;
  app.sandbox.fail({ ...fault, status: 200, body: { [VERDICT]: true } });
  const numbered = buying('numbered', '__typename').replace('AAPL', '005930');
  expect((await orderLine(numbered, 'eighth')).symbol).toBe('005930');
  expect(app.logged.join()).not.toContain(keyOf('6f1c'));
});
