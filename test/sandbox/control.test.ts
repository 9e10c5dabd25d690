import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { EndedCall } from '../../sandbox/observations.ts';
import type { Sandbox } from '../../sandbox/start.ts';
import { eventually } from '../support/eventually.ts';
import { openSandbox } from './sandbox-client.ts';

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

test('ended calls say what spoiled them, and are told once to who asks on from the last', async () => {
  await using place = await openSandbox();
  const demo = place.as(DEMO);
  place.sandbox.fail({ operation: 'getOpenPositions', kind: 'reset-before', skip: 1, times: 1 });
  await demo.get(POSITIONS);
  await place.clock.advance(20);
  await demo.get(POSITIONS).catch(() => {});
  const since = async (afterMs: number) =>
    (await control(place.sandbox, 'GET', `calls?since=${afterMs}`)).body.ended as EndedCall[];
  await eventually(async () => (await since(0)).length === 2);
  const [whole, spoiled] = await since(0);
  expect(whole).toMatchObject({ operation: 'getOpenPositions', fault: null, status: 200 });
  expect(spoiled).toMatchObject({ fault: 'reset-before', status: null });
  expect(spoiled?.atMs).toBe((whole?.atMs ?? 0) + 20);
  expect(await since(whole?.endedAtMs ?? 0)).toEqual([spoiled]);
  expect((await control(place.sandbox, 'GET', 'calls')).body).not.toHaveProperty('ended');
  place.sandbox.clearCalls();
  expect(await since(0)).toEqual([]);
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

test.each([
  ['faults', { operation: 'getOpenPositions', kind: 'earthquake' }],
  ['faults', { operation: 'noSuch', kind: 'status' }],
  ['faults', { operation: '*', kind: 'status', headers: { x: 'a\r\nb' } }],
  ['faults', { operation: '*', kind: 'status', unknown: 1 }],
  ['faults', '{'],
  ['tokens', { email: 'nobody@example.com' }],
  ['tokens/revoke', {}],
  ['tick', { times: 0 }],
  ['market', { symbol: 'NO.SUCH', price: 1 }],
  ['market', { symbol: 'AAPL', price: -1 }],
  ['catalog', { add: -1 }],
  ['catalog/size', { size: 0 }],
  ['catalog/size', { size: 20_001 }],
])('POST %s refuses %j', async (path, body) => {
  await using place = await openSandbox();
  expect(await control(place.sandbox, 'POST', path, body)).toMatchObject({
    status: 400,
    body: { error: 'BAD_INPUT', message: expect.any(String) },
  });
});
