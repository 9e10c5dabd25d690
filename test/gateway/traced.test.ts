import { expect, test } from 'vitest';
import { GatewayMetrics } from '../../src/gateway/gateway-metrics.ts';
import { OPERATIONS } from '../../src/gateway/operations.ts';
import { Origin } from '../../src/gateway/origin.ts';
import { LogicalClock } from '../../src/lib/clock.ts';
import { createLog } from '../../src/lib/log.ts';
import { MetricsRegistry } from '../../src/lib/metrics-registry.ts';
import type { TraceSpan, Tracing } from '../../src/lib/tracing/tracing.ts';
import { OPERATION_CASES } from '../operations/cases.ts';
import { eventually } from '../support/eventually.ts';
import { startScriptedGateway } from '../support/scripted-gateway.ts';
import { anyCaller, clientSettings, wordFor } from './open-client.ts';

/** A client with one connection for each kind of call, whose gateway never answers. */
async function openTraced(start: () => Pick<TraceSpan, 'headers' | 'end'>) {
  const gateway = await startScriptedGateway(() => {});
  const tracing = { start } as unknown as Tracing;
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const settings = clientSettings(2_000);
  const origin = new Origin({
    url: gateway.url,
    operations: OPERATIONS,
    widths: { reads: 1, orders: 1, rest: 1 },
    metrics: new GatewayMetrics(new MetricsRegistry()),
    log: createLog({ level: 'error', destination }),
    tracing,
    logicalClock: new LogicalClock(),
    ...settings,
  });
  return {
    client: origin.client,
    gateway,
    lines,
    async [Symbol.asyncDispose]() {
      await origin.close();
      await gateway[Symbol.asyncDispose]();
    },
  };
}

test('a call whose span cannot begin is never sent, and frees its place', async () => {
  const cause = new Error('no span');
  await using open = await openTraced(() => {
    throw cause;
  });
  // The second call needs the only connection that the first one had.
  for (let call = 0; call < 2; call += 1) {
    await expect(open.client.read(anyCaller, OPERATIONS.getOpenPositions, null)).rejects.toBe(
      cause,
    );
  }
  expect(open.gateway.requests).toEqual([]);
});

test('an order whose span cannot end is unknown, and frees its connection', async () => {
  const end = () => {
    throw new Error('no end');
  };
  await using open = await openTraced(() => ({ headers: [], end }));
  expect(await wordFor(OPERATION_CASES.openPosition.call(open.client, anyCaller))).toBe('unknown');
  await eventually(() => expect(open.gateway.openConnections).toBe(0));
  expect(open.lines).toEqual([expect.stringContaining('no end')]);
});
