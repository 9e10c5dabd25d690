import { describe, expect, test } from 'vitest';
import type { FaultKind } from '../../src/sandbox/faults.ts';
import { openSandbox } from '../sandbox/sandbox-client.ts';
import { eventually } from '../support/eventually.ts';
import { answer, startScriptedGateway } from '../support/scripted-gateway.ts';
import { turnsDuring } from '../support/turns.ts';
import { CALLS, wordFor } from './calls.ts';
import { anyCaller, openClient } from './open-client.ts';

const MEGABYTE = 1_048_576;

describe('an answer in chunks of one byte', () => {
  const whole = JSON.stringify({ positions: [], padding: ' '.repeat(MEGABYTE) });
  const inChunks = Buffer.concat([
    Buffer.from('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'),
    ...Array.from(whole, (character) => Buffer.from(`1\r\n${character}\r\n`)),
    Buffer.from('0\r\n\r\n'),
  ]);

  test('is read in the memory of its bytes, and in turns with everything else', async () => {
    await using gateway = await startScriptedGateway((socket) => void socket.write(inChunks));
    await using open = openClient(gateway.url);
    const peak = watchMemory();
    const turns = await turnsDuring(async () => {
      const answered = await CALLS.getOpenPositions(open.client, anyCaller);
      expect(answered).toMatchObject({ positions: [] });
    });
    expect(turns).toBeGreaterThan(whole.length / 2_000);
    expect(peak()).toBeLessThan(100 * MEGABYTE);
  });

  test('is read no further than its bound', async () => {
    await using gateway = await startScriptedGateway((socket) => void socket.write(inChunks));
    await using open = openClient(gateway.url, { gatewayMaxBytes: 10_000 });
    expect(await wordFor(CALLS.getOpenPositions(open.client, anyCaller))).toBe('contract');
    await eventually(() => gateway.openConnections === 0);
  });
});

describe('a catalog', () => {
  const catalog = CALLS.getAllTickers;

  test.each<[FaultKind, string, number | undefined]>([
    ['oversize', 'contract', 1024 * MEGABYTE],
    ['gzip-bomb', 'contract', 1024 * MEGABYTE],
    ['drip', 'timeout', undefined],
  ])('under "%s" ends as %s, in bounded memory', async (kind, word, bytes) => {
    await using place = await openSandbox();
    await using open = openClient(place.sandbox.url, { catalogMaxBytes: 16 * MEGABYTE });
    const caller = place.caller();
    // On its connection the next call is sent at once, so that no deadline is over before.
    expect(await wordFor(catalog(open.client, caller))).toBe('answer');
    const hasty = openClient(place.sandbox.url, { pools: open.pools, catalogTimeoutMs: 300 });
    place.sandbox.fail({ operation: 'getAllTickers', kind, bytes });
    const peak = watchMemory();
    const { client } = word === 'timeout' ? hasty : open;
    expect(await wordFor(catalog(client, caller))).toBe(word);
    // The sandbox's own part is in it: both live in this process.
    expect(peak()).toBeLessThan(200 * MEGABYTE);
  });
});

test('lists nested a million deep are read or refused, but do no harm', async () => {
  const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  const bodies = [
    `{"positions":${deep(1e6)}}`,
    `{"positions":[{"id":"1","symbol":"A","comment":${deep(1e6)}}]}`,
    `{"success":false,"error":"E","details":{"a":${deep(1e6)}}}`,
  ];
  let next = 0;
  await using gateway = await startScriptedGateway((socket) => {
    socket.write(answer(200, bodies[next] ?? ''));
    next += 1;
  });
  await using open = openClient(gateway.url);
  const { client } = open;
  expect(await wordFor(client.getOpenPositions(anyCaller, null))).toBe('contract');
  expect(await client.getOpenPositions(anyCaller, null)).toMatchObject({
    positions: [{ id: '1', comment: null }],
  });
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
