import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { rawPost } from '../../support/raw-request.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { inSeconds, unsignedToken } from '../../support/tokens.ts';
import { codesOf, TRANSPORTS } from '../limits/every-transport.ts';
import { initializedSocket, openSocket } from '../live/raw-socket.ts';
import { lineOf, linesOf } from './request-lines.ts';

const HOME = 'query Home { session { balance } positions { id } customerId }';
const LIVE = 'subscription Live { positionChanges { cursor } }';
const ACCOUNT_KEY = 'the key of the accounts in the log';

const hashed = (loginOrAddress: number | string) =>
  createHmac('sha256', ACCOUNT_KEY).update(String(loginOrAddress)).digest('hex').slice(0, 16);

describe.each([true, false])('each request has one line (direct path: %s)', (directPath) => {
  test('with its operation, its calls, its sizes and its account', async () => {
    await using app = await startTestApp(
      { LOG_ACCOUNT_KEY: ACCOUNT_KEY, CLIENT_NAMES: 'web' },
      { directPath },
    );
    const token = await app.signIn();
    const headers = {
      'x-request-id': 'home-1',
      'apollographql-client-name': 'web',
      'apollographql-client-version': '1.2.3',
    };
    const answer = await app.query(HOME, { token, headers });
    expect(answer.errors).toEqual([]);
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
      gatewayMs: expect.any(Number),
      calls: expect.any(Array),
      bytesIn: JSON.stringify({ query: HOME }).length,
      bytesOut: Number(answer.headers.get('content-length')),
      account: hashed(700001),
      client: 'web',
      clientVersion: '1.2.3',
      msg: 'request',
    });
    expect(line.calls.map((call: string) => call.replace(/ [\d.]+ms$/, '')).sort()).toEqual([
      'getCustomerId ok',
      'getOpenPositions ok',
      'getSession ok',
    ]);
    expect(line.gatewayMs).toBeGreaterThan(0);
    expect(line.gatewayMs).toBeLessThanOrEqual(line.durationMs);
    await app.query('query Again { session { balance } }', { token });
    await eventually(() => {
      const [again] = linesOf(app, 'request').filter((each) => each.operationName === 'Again');
      expect(again?.calls).toEqual([expect.stringMatching(/^getSession cache /)]);
    });
    expect(linesOf(app, 'request')).toHaveLength(3);
  });

  test('with the codes of what failed, and who answers for it', async () => {
    await using app = await startTestApp({ LOG_LEVEL: 'debug' }, { directPath });
    const token = await app.signIn();
    app.sandbox.fail({ operation: 'getCustomerId', kind: 'status', status: 500 });
    app.sandbox.fail({ operation: 'getOpenPositions', kind: 'status', status: 429 });
    const ask = (query: string, as: string | null, id: string) =>
      app.query(query, { token: as, headers: { 'x-request-id': id } });
    const post = (body: string, id: string) =>
      rawPost(`${app.url}/graphql`, body, { 'x-request-id': id });
    await ask('{ customerId }', token, 'fault');
    await ask('{ positions { id } }', token, 'limited-there');
    await ask('{ nothing }', token, 'caller');
    await ask('{ session { balance } }', null, 'no-token');
    await post('{"query":', 'cut');
    await post('x'.repeat(300_000), 'large');
    for (const [id, outcome, code, status] of [
      ['fault', 'fault', 'GATEWAY_UNAVAILABLE', 200],
      ['limited-there', 'fault', 'RATE_LIMITED', 200],
      ['caller', 'caller', 'GRAPHQL_VALIDATION_FAILED', 200],
      ['no-token', 'caller', 'UNAUTHENTICATED', 200],
      ['cut', 'caller', 'GRAPHQL_PARSE_FAILED', 400],
      ['large', 'caller', 'PAYLOAD_TOO_LARGE', 413],
    ] as const) {
      expect(await lineOf(app, 'request', id)).toMatchObject({ outcome, codes: [code], status });
    }
    const failed = await lineOf(app, 'a field failed', 'fault');
    expect(failed.reason).toBe('getCustomerId: status 500');
    const { calls } = await lineOf(app, 'request', 'fault');
    // The call and its two retries.
    expect(calls).toEqual(Array(3).fill(expect.stringMatching(/^getCustomerId 5xx /)));
  });
});

test.each(TRANSPORTS)(
  'a refused or limited request by %s has its address, hashed',
  async (_name, ask) => {
    await using app = await startTestApp({
      LOG_ACCOUNT_KEY: ACCOUNT_KEY,
      RATE_LIMIT_PER_MINUTE: '2',
    });
    const ended = async (outcome: string) => {
      await eventually(() => linesOf(app, 'request').at(-1)?.outcome === outcome);
      return linesOf(app, 'request').at(-1);
    };
    await ask(app, { query: '{ __typename }' });
    expect(await ended('ok')).not.toHaveProperty('address');
    await ask(app, { query: '{ session { login } }' });
    expect(await ended('caller')).toMatchObject({ address: hashed('127.0.0.1') });
    await ask(app, { query: '{ __typename }' });
    expect(await ended('refused')).toMatchObject({ address: hashed('127.0.0.1') });
  },
);

test('an IPv6 address is hashed as its /64, and what the service or the gateway fails at has none', async () => {
  await using app = await startTestApp({
    LOG_ACCOUNT_KEY: ACCOUNT_KEY,
    TRUSTED_PROXIES: '127.0.0.1',
  });
  const token = app.sandbox.token({ email: 'demo@example.com' });
  const headers = { 'x-forwarded-for': '2001:db8:1:2:3:4:5:6' };
  await app.query('{ nothing }', { headers: { ...headers, 'x-request-id': 'wrong' } });
  expect(await lineOf(app, 'request', 'wrong')).toMatchObject({
    address: hashed('2001:db8:1:2::/64'),
  });
  app.sandbox.fail({ operation: 'getCustomerId', kind: 'status', status: 500 });
  await app.query('{ customerId }', { token, headers: { ...headers, 'x-request-id': 'fault' } });
  expect(await lineOf(app, 'request', 'fault')).not.toHaveProperty('address');
});

const WORDS: Readonly<Record<string, string>> = {
  POST: 'http',
  GET: 'http',
  'event stream': 'sse',
  WebSocket: 'websocket',
};

test.each(TRANSPORTS)('a request by %s has one line', async (name, ask) => {
  await using app = await startTestApp();
  const token = await app.signIn();
  expect(codesOf(await ask(app, { query: HOME }, token))).toEqual([]);
  const found = () => linesOf(app, 'request').filter((line) => line.operationName === 'Home');
  await eventually(() => found().length > 0);
  expect(found()).toHaveLength(1);
  expect(found()[0]).toMatchObject({ type: 'query', outcome: 'ok', transport: WORDS[name] });
  expect(found()[0]?.bytesIn).toBeGreaterThan(HOME.length);
  expect(found()[0]?.bytesOut).toBeGreaterThan(100);
  expect(codesOf(await ask(app, { query: 'query Wrong { nothing }' }, token))).toHaveLength(1);
  await eventually(() =>
    linesOf(app, 'request').some(({ codes }) => codes?.[0] === 'GRAPHQL_VALIDATION_FAILED'),
  );
});

describe('a subscription has a line when it starts, and one when it has ended', () => {
  test('over WebSocket', async () => {
    await using app = await startTestApp();
    const token = await app.signIn();
    using socket = await openSocket(app);
    const client = { 'apollographql-client-name': 'ios', 'apollographql-client-version': '7' };
    const payload = { authorization: `Bearer ${token}`, ...client };
    socket.say({ type: 'connection_init', payload });
    socket.subscribe('1', LIVE);
    await socket.until('1', 'next');
    const started = await lineOf(app, 'subscription started');
    expect(started).toMatchObject({
      transport: 'websocket',
      operationName: 'Live',
      account: expect.stringMatching(/^[\da-f]{16}$/),
      client: 'ios',
      clientVersion: '7',
    });
    expect(linesOf(app, 'subscription ended')).toEqual([]);
    socket.say({ id: '1', type: 'complete' });
    const ended = await lineOf(app, 'subscription ended', started.requestId);
    expect(ended).toMatchObject({ outcome: 'ok', events: 1, account: started.account });
    expect(ended.bytesOut).toBeGreaterThan(50);
  });

  test('by the close of its socket', async () => {
    await using app = await startTestApp();
    const token = await app.signIn();
    const socket = await initializedSocket(app, token);
    socket.subscribe('1', LIVE);
    await socket.until('1', 'next');
    socket.socket.terminate();
    expect(await lineOf(app, 'subscription ended')).toMatchObject({ outcome: 'ok', events: 1 });
    expect(linesOf(app, 'subscription started')).toHaveLength(1);
  });

  test('with the code of a token that is refused meanwhile', async () => {
    await using app = await startTestApp({ POSITIONS_POLL_MS: '100' });
    const token = await app.signIn();
    using socket = await initializedSocket(app, token);
    socket.subscribe('1', LIVE);
    await socket.until('1', 'next');
    app.sandbox.fail({ operation: 'getOpenPositions', kind: 'status', status: 401 });
    expect((await socket.close()).code).toBe(4403);
    expect(await lineOf(app, 'subscription ended')).toMatchObject({
      outcome: 'caller',
      codes: ['UNAUTHENTICATED'],
    });
  });
});

test('a client that has left before its answer is said to have gone', async () => {
  await using app = await startTestApp();
  const token = await app.signIn();
  app.sandbox.fail({ operation: 'getCustomerId', kind: 'delay', delayMs: 60_000 });
  const leaving = new AbortController();
  const asked = fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query: 'query Left { customerId }' }),
    signal: leaving.signal,
  }).catch(() => null);
  await eventually(() => app.sandbox.calls('getCustomerId') === 1);
  leaving.abort();
  await asked;
  await eventually(() => {
    const left = linesOf(app, 'request').find((line) => line.operationName === 'Left');
    expect(left?.outcome).toBe('gone');
  });
});

test('the refusals of an address beyond ten in a minute are one line for each cause, at its end', async () => {
  const clock = createScriptedClock();
  const environment = { LOG_ACCOUNT_KEY: ACCOUNT_KEY, RATE_LIMIT_PER_MINUTE: '1' };
  await using app = await startTestApp(environment, { connections: { clock }, refills: false });
  const address = hashed('127.0.0.1');
  const refused = () => linesOf(app, 'request').filter(({ outcome }) => outcome === 'refused');
  for (let sent = 0; sent < 26; sent += 1) await app.query('{ __typename }');
  await eventually(() => refused().length === 10);
  expect(linesOf(app, 'requests refused')).toEqual([]);
  await clock.advance(60_000);
  const sum = { codes: ['RATE_LIMITED'], address, count: 15 };
  expect(linesOf(app, 'requests refused')).toMatchObject([sum]);
  await app.query('{ __typename }');
  await eventually(() => refused().length === 11);
  await clock.advance(60_000);
  expect(linesOf(app, 'requests refused')).toHaveLength(1);
});

describe('LOG_SAMPLE', () => {
  test('leaves out healthy requests, and keeps each one that failed or was slow', async () => {
    await using app = await startTestApp({ LOG_SAMPLE: '0' });
    const token = await app.signIn();
    const ask = (requestId: string, query: string) =>
      app.query(query, { token, headers: { 'x-request-id': requestId } });
    await ask('healthy', HOME);
    await ask('wrong', '{ nothing }');
    app.sandbox.fail({ operation: 'getCustomerId', kind: 'delay', delayMs: 1_050, times: 1 });
    await ask('slow', '{ customerId }');
    expect(await lineOf(app, 'request', 'slow')).toMatchObject({
      ...{ outcome: 'ok', sample: 0 },
      address: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    await lineOf(app, 'request', 'wrong');
    using socket = await initializedSocket(app, token);
    socket.subscribe('1', LIVE);
    await socket.until('1', 'next');
    expect(linesOf(app, 'subscription started')).toEqual([]);
    expect(linesOf(app, 'request').map(({ requestId }) => requestId)).toEqual(['wrong', 'slow']);
  });
});

test('a token that the gateway has not accepted only claims an account', async () => {
  await using app = await startTestApp({ LOG_ACCOUNT_KEY: ACCOUNT_KEY });
  const forged = unsignedToken({ login: 700001, group: 'standard-usd', exp: inSeconds(600) });
  await app.query('{ session { balance } }', { token: forged });
  const line = await lineOf(app, 'request');
  expect(line).toMatchObject({ claimedAccount: hashed(700001), codes: ['UNAUTHENTICATED'] });
  expect(line.account).toBeUndefined();
});

test('what a client calls itself, its request and its operation is bounded and redacted', async () => {
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
  await eventually(() => linesOf(app, 'request').length === 2);
  const [first, second] = linesOf(app, 'request');
  const written = JSON.stringify([first, second]);
  for (const secret of ['Y2FuYXJ5', 'canary@', '4915198765432', 'xxxx']) {
    expect(written).not.toContain(secret);
  }
  expect(second?.operationName.length).toBe(80);
  expect(first?.client).toBe('[…]');
  expect(second?.client).toBeUndefined();
});
