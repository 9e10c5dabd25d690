import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox/start.ts';
import { createSandboxClient, openSandbox } from './sandbox-client.ts';

const DEMO = 'demo@example.com';
const POSITIONS = '/trading/positions';

async function control(sandbox: Sandbox, verb: string, path: string, body?: unknown) {
  const init: RequestInit = { method: verb };
  if (body !== undefined) init.body = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(`http://127.0.0.1:${sandbox.port}/sandbox/${path}`, init);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

test('faults are set, listed and cleared', async () => {
  await using place = await openSandbox();
  const demo = place.as(DEMO);
  const fault = { operation: 'getOpenPositions', kind: 'status', status: 503 };
  expect(await control(place.sandbox, 'POST', 'faults', fault)).toMatchObject({ status: 200 });
  expect((await control(place.sandbox, 'GET', 'faults')).body).toEqual({ faults: [fault] });
  expect((await demo.get(POSITIONS)).status).toBe(503);
  await control(place.sandbox, 'DELETE', 'faults');
  expect((await demo.get(POSITIONS)).status).toBe(200);
});

test('calls are counted by operation and by login', async () => {
  await using place = await openSandbox();
  const demo = place.as(DEMO);
  await demo.get(POSITIONS);
  await demo.get(POSITIONS);
  await place.anonymous.get(POSITIONS);
  await place.as('pro@example.com').get('/payments/client/customer-id');
  expect((await control(place.sandbox, 'GET', 'calls')).body).toEqual({
    total: 4,
    operations: { getOpenPositions: 3, getCustomerId: 1 },
    logins: { 700001: { getOpenPositions: 2 }, 700002: { getCustomerId: 1 } },
  });
  expect(place.sandbox.calls('getOpenPositions')).toBe(3);
  expect(place.sandbox.calls('getOpenPositions', 700001)).toBe(2);
  expect(place.sandbox.calls(undefined, 700002)).toBe(1);
  expect(place.sandbox.calls('login', 4)).toBe(0);
  await control(place.sandbox, 'DELETE', 'calls');
  expect(place.sandbox.calls()).toBe(0);
});

test('requests are kept as received, but for the token', async () => {
  await using place = await openSandbox();
  const demo = place.as(DEMO);
  await demo.get(`${POSITIONS}?x=1`, { 'x-request-id': 'abc' });
  await demo.put('/user/kv/a%2Fb', { value: 1 });
  const { requests } = (await control(place.sandbox, 'GET', 'requests')).body;
  const fingerprint = createHash('sha256')
    .update(demo.token ?? '')
    .digest('hex')
    .slice(0, 16);
  expect(requests).toEqual([
    expect.objectContaining({
      method: 'GET',
      path: `${POSITIONS}?x=1`,
      operation: 'getOpenPositions',
      login: 700001,
      headers: expect.objectContaining({
        'x-request-id': 'abc',
        authorization: `sha256:${fingerprint}`,
      }),
      body: '',
    }),
    expect.objectContaining({ method: 'PUT', path: '/user/kv/a%2Fb', body: '{"value":1}' }),
  ]);
  const some = await control(place.sandbox, 'GET', 'requests?operation=setValue');
  expect(some.body.requests).toHaveLength(1);
});

test('only the last thousand requests are kept, in order', async () => {
  await using place = await openSandbox();
  for (let i = 0; i < 1_010; i += 1) await place.anonymous.get(`${POSITIONS}?n=${i}`);
  const paths = place.sandbox.requests().map(({ path }) => path);
  expect(paths).toHaveLength(1_000);
  expect([paths[0], paths.at(-1)]).toEqual([`${POSITIONS}?n=10`, `${POSITIONS}?n=1009`]);
});

test('tokens are minted and revoked', async () => {
  await using place = await openSandbox();
  const mint = async (claims: object) =>
    String((await control(place.sandbox, 'POST', 'tokens', claims)).body.access_token);
  const status = async (token: string) =>
    (await createSandboxClient(place.sandbox, token, 700001).get('/trading/session/700001')).status;
  const good = await mint({ login: 700001 });
  expect(await status(good)).toBe(200);
  expect(await status(await mint({ email: DEMO, expiresInSeconds: -1 }))).toBe(401);
  expect(await status(await mint({ email: DEMO, signature: 'forged' }))).toBe(401);
  expect(await status(await mint({ email: 'pro@example.com' }))).toBe(403);
  await control(place.sandbox, 'POST', 'tokens/revoke', { token: good });
  expect(await status(good)).toBe(401);
  const next = await mint({ email: DEMO });
  await control(place.sandbox, 'POST', 'tokens/revoke', { login: 700001 });
  expect(await status(next)).toBe(401);
});

test('a token may claim a group that is not the user’s', async () => {
  await using place = await openSandbox();
  const { body } = await control(place.sandbox, 'POST', 'tokens', {
    email: DEMO,
    group: 'pro-usd',
  });
  const client = createSandboxClient(place.sandbox, String(body.access_token), 700001);
  expect((await client.session()).group).toBe('standard-usd');
  // The signature is good but the account is of another group: the account's group counts.
  expect((await client.get('/trading/tickers/pro-usd')).status).toBe(403);
});

test('the market is ticked and put', async () => {
  await using place = await openSandbox();
  const demo = place.as(DEMO);
  const first = (await demo.get(POSITIONS)).text;
  await control(place.sandbox, 'POST', 'tick', { times: 3 });
  expect((await demo.get(POSITIONS)).text).not.toBe(first);
  await control(place.sandbox, 'POST', 'market', { symbol: 'AAPL', price: 321.5 });
  const apple = (await demo.positions()).find(({ symbol }) => symbol === 'AAPL');
  expect(apple?.priceCurrent ?? 321.5).toBe(321.5);
  await control(place.sandbox, 'POST', 'market', { symbol: 'AAPL', open: false });
  await expect(demo.order({})).rejects.toThrow('MARKET_CLOSED');
});

test('the catalog is changed, and a reset undoes it all', async () => {
  await using place = await openSandbox();
  const demo = place.as(DEMO);
  const first = await demo.get('/trading/tickers/standard-usd');
  await control(place.sandbox, 'POST', 'catalog', { change: 3, ageSeconds: 90 });
  const changed = await demo.get('/trading/tickers/standard-usd');
  expect(changed.text).not.toBe(first.text);
  expect(changed.headers.get('age')).toBe('90');
  await demo.order({});
  expect((await control(place.sandbox, 'GET', 'orders')).body.orders).toHaveLength(1);
  await control(place.sandbox, 'POST', 'reset');
  expect((await control(place.sandbox, 'GET', 'orders')).body.orders).toEqual([]);
  expect((await demo.get('/trading/tickers/standard-usd')).text).toBe(first.text);
});

test.each([
  ['faults', { operation: 'getOpenPositions', kind: 'earthquake' }],
  ['faults', { operation: 'noSuch', kind: 'status' }],
  ['faults', { operation: '*', kind: 'status', status: 99 }],
  ['faults', { operation: '*', kind: 'status', headers: { 'x y': 'z' } }],
  ['faults', { operation: '*', kind: 'status', headers: { x: 'a\r\nb' } }],
  ['faults', { operation: '*', kind: 'status', unknown: 1 }],
  ['faults', []],
  ['faults', '{'],
  ['tokens', {}],
  ['tokens', { email: 'nobody@example.com' }],
  ['tokens/revoke', {}],
  ['tick', { times: 0 }],
  ['tick', { times: 1e9 }],
  ['market', {}],
  ['market', { symbol: 'NO.SUCH', price: 1 }],
  ['market', { symbol: 'NO.SUCH', open: true }],
  ['market', { symbol: 'AAPL', price: -1 }],
  ['catalog', { add: -1 }],
  ['catalog', []],
])('POST %s refuses %j', async (path, body) => {
  await using place = await openSandbox();
  expect(await control(place.sandbox, 'POST', path, body)).toMatchObject({
    status: 400,
    body: { error: 'BAD_INPUT', message: expect.any(String) },
  });
});

test('names each property of a fault that is wrong, and what it may be', async () => {
  await using place = await openSandbox();
  const fault = {
    operation: '*',
    kind: 'status',
    status: 199,
    times: 0,
    apply: 1,
    skip: 1.5,
    x: 1,
  };
  const { body } = await control(place.sandbox, 'POST', 'faults', fault);
  expect(String(body.message).split('; ')).toEqual([
    'x: is not known',
    'status: must be a whole number, 200 to 599',
    'times: must be a whole number, 1 to 1000000000',
    'skip: must be a whole number, 0 to 1000000000',
    'apply: must be a boolean',
  ]);
});

test.each([
  ['faults', { operation: '*', kind: 'status', status: 200, times: 1, bytes: 17_179_869_184 }],
  ['faults', { operation: '*', kind: 'delay', delayMs: 1e9, skip: 0, headers: { x: '\t~' } }],
  ['tokens', { email: 'demo@example.com', expiresInSeconds: -1, signature: 'forged' }],
  ['catalog', { add: 0, ageSeconds: null, cacheControl: null, empty: false }],
])('POST %s takes %j', async (path, body) => {
  await using place = await openSandbox();
  expect(await control(place.sandbox, 'POST', path, body)).toMatchObject({ status: 200 });
});
