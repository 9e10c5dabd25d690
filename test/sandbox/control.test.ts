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

test('a fault ends after its duration', async () => {
  await using place = await openSandbox();
  const demo = place.as(DEMO);
  place.sandbox.fail({ operation: 'getOpenPositions', kind: 'status', forMs: 5_000 });
  await place.clock.advance(4_999);
  expect((await demo.ask('getOpenPositions')).status).toBe(500);
  await place.clock.advance(1);
  expect((await demo.ask('getOpenPositions')).status).toBe(200);
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
