import { expect, test } from 'vitest';
import { OPERATIONS } from '../../src/gateway/operations.ts';
import type { FaultKind } from '../../src/sandbox/faults.ts';
import { openSandbox } from '../sandbox/sandbox-client.ts';
import { answer, startScriptedGateway } from '../support/scripted-gateway.ts';
import { anyCaller, openClient, wordFor } from './open-client.ts';

const MEGABYTE = 1_048_576;

test.each<FaultKind>(['oversize', 'gzip-bomb'])(
  'a catalog under "%s" is refused in bounded memory',
  async (kind) => {
    await using place = await openSandbox();
    await using open = openClient(place.sandbox.url, { gatewayMaxBytes: MEGABYTE });
    place.sandbox.fail({ operation: 'getAllTickers', kind, bytes: 1024 * MEGABYTE });
    const peak = watchMemory();
    const catalog = open.client.read(place.caller(), OPERATIONS.getAllTickers, {
      group: 'standard-usd',
      etag: null,
    });
    expect(await wordFor(catalog)).toBe('contract');
    // The sandbox's memory is included: both run in this process.
    expect(peak()).toBeLessThan(200 * MEGABYTE);
  },
);

test('a catalog with an item of a megabyte is refused', async () => {
  const items = `[{"_id":"A"},{"_id":"B","desc":"${' '.repeat(MEGABYTE)}"}]`;
  await using gateway = await startScriptedGateway(
    (socket) => void socket.write(answer(200, items)),
  );
  await using open = openClient(gateway.url);
  expect(
    await wordFor(
      open.client.read(anyCaller, OPERATIONS.getAllTickers, { group: 'g', etag: null }),
    ),
  ).toBe('contract');
});

/** The peak of the heap above its present size. */
function watchMemory(): () => number {
  const used = () => {
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const before = used();
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, used());
  }, 5);
  return () => {
    clearInterval(timer);
    return Math.max(most, used()) - before;
  };
}
