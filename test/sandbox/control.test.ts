import { expect, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox/start.ts';
import { askGateway } from '../support/ask-gateway.ts';
import { openSandbox } from './sandbox-client.ts';

const DEMO = 'demo@example.com';

async function control(sandbox: Sandbox, verb: string, path: string, body?: unknown) {
  const init: RequestInit = { method: verb };
  if (body !== undefined) init.body = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(`http://127.0.0.1:${sandbox.port}/sandbox/${path}`, init);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

test('calls are counted by operation and by login', async () => {
  await using place = await openSandbox();
  const demo = place.as(DEMO);
  await demo.ask('getOpenPositions');
  await demo.ask('getOpenPositions');
  await place.anonymous.ask('getOpenPositions');
  await place.as('pro@example.com').ask('getCustomerId');
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

test.each([
  ['faults', { operation: 'getOpenPositions', kind: 'earthquake' }],
  ['faults', { operation: 'noSuch', kind: 'status' }],
  ['faults', { operation: '*', kind: 'status', headers: { x: 'a\r\nb' } }],
  ['faults', { operation: '*', kind: 'status', unknown: 1 }],
  ['faults', '{'],
  ['market', { symbol: 'NO.SUCH', price: 1 }],
  ['market', { symbol: 'AAPL', price: -1 }],
  ['market', { symbol: 'AAPL', price: 1e308 }],
  ['market', { symbol: 'AAPL', cost: 150 }],
])('POST %s refuses %j', async (path, body) => {
  await using place = await openSandbox();
  expect(await control(place.sandbox, 'POST', path, body)).toMatchObject({
    status: 400,
    body: { error: 'BAD_INPUT', message: expect.any(String) },
  });
});

test('all tokens of a login are revoked, including tokens from before a restart', async () => {
  await using before = await openSandbox();
  for (let i = 0; i < 2; i += 1) before.sandbox.token({ email: DEMO });
  const former = before.sandbox.token({ email: DEMO });
  await before.clock.advance(1_000);
  await using place = await openSandbox({ clock: before.clock });
  const statusOf = async (token: string) => {
    return (await askGateway(place.sandbox.url, 'getOpenPositions', { token })).status;
  };
  expect(await statusOf(former)).toBe(200);
  place.sandbox.revoke({ login: 700001 });
  expect(await statusOf(former)).toBe(401);
  expect(await statusOf(place.sandbox.token({ email: DEMO }))).toBe(200);
});
