import { expect, test } from 'vitest';
import { LogicalClock, steadyClock } from '../../lib/clock.ts';
import { createLog } from '../../lib/log.ts';
import { Registry } from '../../lib/metrics/registry.ts';
import { toToken } from '../../lib/token.ts';
import type { TraceSpan, Tracing } from '../../lib/tracing/tracing.ts';
import { createWire } from '../../src/gateway/create-wire.ts';
import { exchanged, type WireCall } from '../../src/gateway/exchange.ts';
import { createGatewayMetrics } from '../../src/gateway/gateway-metrics.ts';
import { OPERATIONS, type OperationName } from '../../src/gateway/operations.ts';
import { createBulkhead, withBulkheads } from '../../src/gateway/resilience/bulkhead.ts';
import { withSpans } from '../../src/gateway/traced.ts';
import { eventually } from '../support/eventually.ts';
import { startScriptedGateway } from '../support/scripted-gateway.ts';

const url = 'http://127.0.0.1:1';

function callOf(operation: OperationName): WireCall {
  return {
    operation,
    row: OPERATIONS[operation],
    path: '/',
    headers: [],
    body: null,
    deadlineMs: 50,
    maxBytes: 1_000,
    caller: { token: toToken('a token'), provedLogin: () => 'customer' },
  };
}

function tracingBy(call: () => TraceSpan): Tracing {
  const unused = () => expect.unreachable();
  return { call, receive: unused, close: unused };
}

test('a call whose span cannot begin is never sent, and gives its place back', async () => {
  const cause = new Error('no span');
  const tracing = tracingBy(() => {
    throw cause;
  });
  const send = withSpans(() => expect.unreachable(), tracing, { url, gatewayHeaders: {} });
  const all = createBulkhead(steadyClock, 1);
  const guarded = withBulkheads(send, { reads: { all, unproved: all, polls: all } }, steadyClock);
  for (let call = 0; call < 2; call += 1) {
    expect(await exchanged(guarded, callOf('getOpenPositions'))).toEqual({ sent: false, cause });
    expect(all.taken).toBe(0);
  }
});

test.each(['getOpenPositions', 'openPosition'] as const)(
  'a span that cannot end keeps neither the connection of %s nor ends the process',
  async (operation) => {
    const tracing = tracingBy(() => ({
      headers: [],
      end() {
        throw new Error('no end');
      },
    }));
    const lines: string[] = [];
    const destination = { write: (line: string) => void lines.push(line) };
    await using gateway = await startScriptedGateway(() => {});
    const wire = createWire({
      url: gateway.url,
      operations: OPERATIONS,
      widths: { reads: 1, orders: 1, rest: 1 },
      metrics: createGatewayMetrics(new Registry()),
      log: createLog({ level: 'error', format: 'json', destination }),
      tracing,
      logicalClock: new LogicalClock(),
      gatewayHeaders: {},
      gatewayTimeoutMs: 30_000,
    });
    try {
      const exchange = await exchanged(wire.send, callOf(operation));
      expect(exchange).toMatchObject({ answered: false, reason: 'timeout' });
      await eventually(() => gateway.openConnections === 0);
      expect(lines).toEqual([expect.stringContaining('no end')]);
    } finally {
      await wire.close();
    }
  },
);
