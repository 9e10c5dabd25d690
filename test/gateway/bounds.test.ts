import { expect, test } from 'vitest';
import { OPERATIONS } from '../../src/gateway/operations.ts';
import type { FaultKind } from '../../src/sandbox/faults.ts';
import { openSandbox } from '../sandbox/sandbox-client.ts';
import { answer, startScriptedGateway } from '../support/scripted-gateway.ts';
import { turnsDuring } from '../support/turns.ts';
import { anyCaller, marketOrder, openClient, wordFor } from './open-client.ts';

const MEGABYTE = 1_048_576;

test('an answer in chunks of one byte is read in the memory of its bytes, and in turns with everything else', async () => {
  const whole = JSON.stringify({ positions: [], padding: ' '.repeat(MEGABYTE) });
  const inChunks = Buffer.concat([
    Buffer.from('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'),
    ...Array.from(whole, (character) => Buffer.from(`1\r\n${character}\r\n`)),
    Buffer.from('0\r\n\r\n'),
  ]);
  await using gateway = await startScriptedGateway((socket) => void socket.write(inChunks));
  await using open = openClient(gateway.url);
  const peak = watchMemory();
  const turns = await turnsDuring(async () => {
    expect(await open.client.read(anyCaller, OPERATIONS.getOpenPositions, null)).toMatchObject({
      positions: [],
    });
  });
  expect(turns).toBeGreaterThan(whole.length / 2_000);
  expect(peak()).toBeLessThan(100 * MEGABYTE);
});

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
    // The sandbox's own part is in it: both live in this process.
    expect(peak()).toBeLessThan(200 * MEGABYTE);
  },
);

const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
const row = (at: number) => `{"id":"${at}","symbol":"A","profit":1}`;
const rows = (count: number) => Array.from({ length: count }, (_, at) => row(at)).join(',');

test.each([
  ['a hundred thousand rows', `{"positions":[${rows(100_000)}]}`, 'answer'],
  [
    'lists that nest as deep',
    `{"positions":[{"id":"1","symbol":"A","comment":${deep}}]}`,
    'contract',
  ],
  ['as many empty lists', `{"positions":[${rows(1)}],"a":[${'[],'.repeat(200_000)}1]}`, 'contract'],
  [
    'an object of as many names',
    `{"positions":[${rows(1)}],"a":{${Array.from({ length: 201_000 }, (_, at) => `"${at}":1`)}}}`,
    'contract',
  ],
])(
  'of an answer of %s it is known before it is parsed whether to read it',
  async (_what, body, word) => {
    await using gateway = await startScriptedGateway(
      (socket) => void socket.write(answer(200, body)),
    );
    await using open = openClient(gateway.url);
    const { client } = open;
    expect(await wordFor(client.read(anyCaller, OPERATIONS.getOpenPositions, null))).toBe(word);
    // An order whose answer is not read is in doubt.
    const isAnswered = word === 'answer';
    expect(await client.order(anyCaller, OPERATIONS.openPosition, marketOrder)).toMatchObject({
      answered: isAnswered,
    });
  },
);

test('a catalog with an item of megabytes is not parsed', async () => {
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
