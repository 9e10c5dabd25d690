import { expect, test } from 'vitest';
import { steadyClock } from '../../lib/clock.ts';
import { toToken } from '../../lib/token.ts';
import type { TraceSpan, Tracing } from '../../lib/tracing/tracing.ts';
import { exchanged, type WireCall } from '../../src/gateway/exchange.ts';
import { OPERATIONS, type OperationName } from '../../src/gateway/operations.ts';
import { createBulkhead, withBulkheads } from '../../src/gateway/resilience/bulkhead.ts';
import { withSpans } from '../../src/gateway/traced.ts';

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
  const send = withSpans(() => expect.unreachable(), { tracing, url, forwardsTrace: true });
  const all = createBulkhead(steadyClock, 1);
  const guarded = withBulkheads(send, { reads: { all, unproved: all, polls: all } }, steadyClock);
  for (let call = 0; call < 2; call += 1) {
    expect(await exchanged(guarded, callOf('getOpenPositions'))).toEqual({ sent: false, cause });
    expect(all.taken).toBe(0);
  }
});
