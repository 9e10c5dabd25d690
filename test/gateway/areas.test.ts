import { expect, test } from 'vitest';
import { OPERATION_CASES } from '../operations/all.ts';
import { openSandbox } from '../sandbox/sandbox-client.ts';
import { eventually } from '../support/eventually.ts';
import { openClient } from './open-client.ts';
import { wordFor } from './word-for.ts';

test('an area has no more connections than its share, and at least one', async () => {
  await using place = await openSandbox();
  const caller = place.caller();
  for (const [connections, shares] of [
    [3, { reads: 1, orders: 1, rest: 1 }],
    [16, { reads: 8, orders: 4, rest: 4 }],
  ] as const) {
    await using open = openClient(place.sandbox.url, { connections });
    place.sandbox.fail({ operation: '*', kind: 'hang' });
    place.sandbox.clearCalls();
    const calls = Array.from({ length: 20 }, () => [
      wordFor(OPERATION_CASES.getOpenPositions.call(open.client, caller)),
      wordFor(OPERATION_CASES.openPosition.call(open.client, caller)),
      wordFor(OPERATION_CASES.getCustomerId.call(open.client, caller)),
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
