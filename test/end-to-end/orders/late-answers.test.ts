import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { readMetrics } from '../../support/leaks.ts';
import { startOrderFacade } from './order-facade.ts';
import { buying } from './order-request.ts';

const UNKNOWN = { type: 'OrderOutcomeUnknown', replayed: false };

test('an answer that comes after ORDER_TIMEOUT_MS settles the order', async () => {
  await using facade = await startOrderFacade({ ORDER_TIMEOUT_MS: '1000' });
  const { sandbox } = facade;
  const client = facade.client();
  for (const [key, symbol, type] of [
    ['late', 'AAPL', 'OrderAccepted'],
    ['refused late', 'TEST.REJECT', 'OrderRejected'],
  ] as const) {
    sandbox.fail({ operation: 'openPosition', kind: 'delay', delayMs: 2_000, times: 1 });
    expect(await client.place(buying(key, symbol))).toMatchObject(UNKNOWN);
    const settled = await eventually(async () => {
      const placed = await client.placed(key);
      expect(placed).toMatchObject({ type, replayed: true });
      return placed;
    });
    expect(await client.place(buying(key, symbol))).toEqual(settled);
  }
  expect(sandbox.calls('openPosition')).toBe(2);
  const metrics = await readMetrics(facade.adminUrl);
  expect(metrics).toContain('trading_graph_orders_settled_late_total{outcome="accepted"} 1');
  expect(metrics).toContain('trading_graph_orders_settled_late_total{outcome="rejected"} 1');
});
