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

test.each([
  ['faults', { operation: '*', kind: 'status', status: 200, times: 1, bytes: 17_179_869_184 }],
  ['faults', { operation: '*', kind: 'delay', delayMs: 1e9, skip: 0, headers: { x: '\t~' } }],
  ['tokens', { email: 'demo@example.com', expiresInSeconds: -1, signature: 'forged' }],
  ['catalog', { add: 0, ageSeconds: null, cacheControl: null, empty: false }],
])('POST %s takes %j', async (path, body) => {
  await using place = await openSandbox();
  expect(await control(place.sandbox, 'POST', path, body)).toMatchObject({ status: 200 });
});
