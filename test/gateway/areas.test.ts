import { describe, expect, test } from 'vitest';
import { OPERATION_NAMES, OPERATIONS } from '../../src/gateway/operations.ts';
import { toToken } from '../../src/lib/token.ts';
import { openSandbox } from '../sandbox/sandbox-client.ts';
import { eventually } from '../support/eventually.ts';
import { CALLS, wordFor } from './calls.ts';
import { openClient } from './open-client.ts';

const AREAS = ['reads', 'orders', 'rest'] as const;
const HOUR_MS = 3_600_000;

describe.each(AREAS)('while everything in "%s" hangs', (area) => {
  const hanging = OPERATION_NAMES.filter((name) => OPERATIONS[name].area === area);
  const alive = OPERATION_NAMES.filter((name) => OPERATIONS[name].area !== area);

  test('the other areas answer', async () => {
    await using place = await openSandbox();
    // The calls that hang do so until their connections are closed, far beyond the deadline of the others.
    await using dead = openClient(place.sandbox.url, {
      connections: 12,
      gatewayTimeoutMs: HOUR_MS,
      orderTimeoutMs: HOUR_MS,
      catalogTimeoutMs: HOUR_MS,
    });
    const { client } = openClient(place.sandbox.url, { pools: dead.pools });
    const caller = { token: toToken(String(place.as('demo@example.com').token)) };
    for (const operation of hanging) place.sandbox.fail({ operation, kind: 'hang' });
    // Many more than there are connections.
    const waiting = Array.from({ length: 60 }, (_, call) => {
      const name = hanging[call % hanging.length] ?? 'login';
      return wordFor(CALLS[name](dead.client, caller));
    });
    await eventually(() => place.sandbox.calls() >= 3);

    const words = await Promise.all(alive.map((name) => wordFor(CALLS[name](client, caller))));
    expect(words.every((word) => ['answer', 'acknowledged', 'accepted'].includes(word))).toBe(true);

    // Every call that hangs gets an outcome as well.
    await dead.pools.close();
    expect((await Promise.all(waiting)).includes('answer')).toBe(false);
  });
});

test('an area has no more connections than its share, and at least one', async () => {
  await using place = await openSandbox();
  const caller = { token: toToken(String(place.as('demo@example.com').token)) };
  for (const [connections, shares] of [
    [3, { reads: 1, orders: 1, rest: 1 }],
    [16, { reads: 8, orders: 4, rest: 4 }],
  ] as const) {
    await using open = openClient(place.sandbox.url, { connections });
    place.sandbox.fail({ operation: '*', kind: 'hang' });
    place.sandbox.clearCalls();
    const calls = Array.from({ length: 20 }, () => [
      wordFor(CALLS.getOpenPositions(open.client, caller)),
      wordFor(CALLS.openPosition(open.client, caller)),
      wordFor(CALLS.getCustomerId(open.client, caller)),
    ]).flat();
    const total = shares.reads + shares.orders + shares.rest;
    await eventually(() => place.sandbox.calls() === total);
    expect(place.sandbox.callCounts().operations).toEqual({
      getOpenPositions: shares.reads,
      openPosition: shares.orders,
      getCustomerId: shares.rest,
    });
    await open.pools.close();
    await Promise.all(calls);
    place.sandbox.clearFaults();
  }
});
