import { expect, test } from 'vitest';
import { orderBody } from '../support/ask-gateway.ts';
import { openSandbox } from './sandbox-client.ts';

const DEMO = 'demo@example.com';

test('a fault ends after its duration', async () => {
  await using place = await openSandbox();
  const demo = place.as(DEMO);
  place.sandbox.fail({ operation: 'getOpenPositions', kind: 'status', forMs: 5_000 });
  await place.clock.advance(4_999);
  expect((await demo.ask('getOpenPositions')).status).toBe(500);
  await place.clock.advance(1);
  expect((await demo.ask('getOpenPositions')).status).toBe(200);
});

test('a fault may apply to one login or to any operation, and ends when it is cleared', async () => {
  await using place = await openSandbox();
  const [demo, pro] = [place.as(DEMO), place.as('pro@example.com')];
  place.sandbox.fail({ operation: '*', kind: 'status', status: 500, login: 700001 });
  for (const name of ['getOpenPositions', 'getCustomerId'] as const) {
    expect((await demo.ask(name)).status).toBe(500);
    expect((await pro.ask(name)).status).toBe(200);
  }
  place.sandbox.clearFaults();
  expect((await demo.ask('getOpenPositions')).status).toBe(200);
});

test.each([
  ['reset-before', 0],
  ['reset-after', 1],
] as const)('an order under %s has no answer, and is applied %i times', async (kind, applied) => {
  await using place = await openSandbox();
  place.sandbox.fail({ operation: 'openPosition', kind, times: 1 });
  await expect(place.as(DEMO).ask('openPosition', orderBody())).rejects.toThrow();
  expect(place.sandbox.orders()).toHaveLength(applied);
  expect(place.sandbox.calls('openPosition')).toBe(1);
});

test.each([
  [{ kind: 'status', status: 503, body: 'down' }, 503, 0],
  [{ kind: 'garbage' }, 200, 1],
  [{ kind: 'delay' }, 200, 1],
] as const)('an order under %j has the status %i, and is applied %i times', async (...given) => {
  const [fault, status, applied] = given;
  await using place = await openSandbox();
  place.sandbox.fail({ operation: 'openPosition', ...fault, headers: { 'x-extra': 'yes' } });
  const answer = await place.as(DEMO).ask('openPosition', orderBody());
  expect([answer.status, answer.headers.get('x-extra')]).toEqual([status, 'yes']);
  expect(place.sandbox.orders()).toHaveLength(applied);
});
