import { expect, test } from 'vitest';
import { openSandbox } from './sandbox-client.ts';

const POSITIONS = '/trading/positions';
const ORDER = { symbol: 'AAPL', direction: 'buy', type: 'unit', amount: 1 };
const DEMO = 'demo@example.com';

test('a fault ends after its duration', async () => {
  await using place = await openSandbox();
  const demo = place.as(DEMO);
  place.sandbox.fail({ operation: 'getOpenPositions', kind: 'status', forMs: 5_000 });
  await place.clock.advance(4_999);
  expect((await demo.get(POSITIONS)).status).toBe(500);
  expect(place.sandbox.faults()).toHaveLength(1);
  await place.clock.advance(1);
  expect((await demo.get(POSITIONS)).status).toBe(200);
  expect(place.sandbox.faults()).toEqual([]);
});

test('a fault may apply to one login or to any operation, and ends when it is cleared', async () => {
  await using place = await openSandbox();
  const [demo, pro] = [place.as(DEMO), place.as('pro@example.com')];
  place.sandbox.fail({ operation: '*', kind: 'status', status: 500, login: 700001 });
  for (const path of [POSITIONS, '/payments/client/customer-id']) {
    expect((await demo.get(path)).status).toBe(500);
    expect((await pro.get(path)).status).toBe(200);
  }
  place.sandbox.clearFaults();
  expect((await demo.get(POSITIONS)).status).toBe(200);
});

test.each([
  ['reset-before', {}, 0],
  ['reset-after', {}, 1],
  ['cut', {}, 1],
  ['cut', { apply: false }, 0],
  ['cut-head', {}, 1],
] as const)(
  'an order under the fault %s %j has no answer, and is applied %i times',
  async (kind, extra, applied) => {
    await using place = await openSandbox();
    const demo = place.as(DEMO);
    place.sandbox.fail({ operation: 'openPosition', kind, ...extra });
    await expect(demo.post(POSITIONS, ORDER)).rejects.toThrow();
    expect(place.sandbox.orders()).toHaveLength(applied);
    expect(place.sandbox.calls('openPosition')).toBe(1);
  },
);

test.each([
  ['status', { status: 503 }, 503, 0],
  ['status', { status: 503, apply: true }, 503, 1],
  ['garbage', {}, 200, 1],
  ['empty', {}, 200, 1],
  ['empty', { apply: false, status: 201 }, 201, 0],
  ['html', {}, 200, 0],
  ['redirect', {}, 302, 0],
  ['redirect', { status: 307 }, 307, 0],
  ['revoke', {}, 401, 0],
  ['oversize', { bytes: 100_000 }, 200, 1],
  ['gzip-bomb', { bytes: 2_000_000 }, 200, 1],
] as const)(
  'an order under the fault %s %j has the status %i, and is applied %i times',
  async (kind, extra, status, applied) => {
    await using place = await openSandbox();
    place.sandbox.fail({ operation: 'openPosition', kind, ...extra });
    const answer = await place.as(DEMO).post(POSITIONS, ORDER);
    expect(answer.status).toBe(status);
    expect(place.sandbox.orders()).toHaveLength(applied);
  },
);
