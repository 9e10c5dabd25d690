import { expect, test } from 'vitest';
import { GatewayMetrics } from '../../src/gateway/gateway-metrics.ts';
import { OPERATIONS } from '../../src/gateway/operations.ts';
import { Origin } from '../../src/gateway/origin.ts';
import { LogicalClock } from '../../src/lib/clock.ts';
import { createLog } from '../../src/lib/log.ts';
import { MetricsRegistry } from '../../src/lib/metrics-registry.ts';
import { clientSettings } from './open-client.ts';

test('two called services each have their own breakers and connections', async () => {
  const registry = new MetricsRegistry();
  const shared = {
    url: 'http://127.0.0.1:1',
    metrics: new GatewayMetrics(registry),
    log: createLog({ level: 'silent', destination: { write() {} } }),
    tracing: null,
    logicalClock: new LogicalClock(),
    ...clientSettings(2_000),
  };
  const { getOpenPositions } = OPERATIONS;
  const getNews = { ...getOpenPositions, name: 'getNews', area: 'news' };
  const origins = [
    new Origin({ ...shared, operations: { getOpenPositions }, widths: { reads: 2 } }),
    new Origin({ ...shared, operations: { getNews }, widths: { news: 3 } }),
  ];
  const text = await registry.metrics();
  expect(text).toContain('circuit_open{area="reads"} 0');
  expect(text).toContain('circuit_open{area="news"} 0');
  expect(text).toContain('gateway_connections{area="reads",state="max"} 2');
  expect(text).toContain('gateway_connections{area="news",state="max"} 3');
  expect(text).toContain('gateway_calls_waiting{area="reads"} 0');
  await Promise.all(origins.map((origin) => origin.close()));
});
