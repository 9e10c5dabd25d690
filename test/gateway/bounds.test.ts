import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { OPERATIONS } from '../../src/gateway/operations.ts';
import { type Script, startScriptedGateway } from '../support/scripted-gateway.ts';
import { anyCaller, openClient, wordFor } from './open-client.ts';

const MEGABYTE = 1_048_576;

test.each<readonly [string, Script]>([
  ['without an end', endless],
  [
    'that unpacks to a gigabyte',
    (socket) => {
      // Gzip members may be concatenated, so a gigabyte of blanks costs a megabyte to send.
      const blanks = gzipSync(Buffer.alloc(MEGABYTE, ' '));
      const body = Buffer.concat([gzipSync('['), ...Array.from({ length: 1_024 }, () => blanks)]);
      const head = `Content-Encoding: gzip\r\nContent-Length: ${body.length}\r\n`;
      socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n`);
      socket.write(body);
    },
  ],
])('a catalog %s is refused in bounded memory', async (_, script) => {
  await using gateway = await startScriptedGateway(script);
  await using open = openClient(gateway.url, { gatewayMaxBytes: MEGABYTE });
  const peak = watchMemory();
  const catalog = open.client.read(anyCaller, OPERATIONS.getAllTickers, { group: 'g', etag: null });
  expect(await wordFor(catalog)).toBe('contract');
  // The gateway's memory is included: both run in this process.
  expect(peak()).toBeLessThan(200 * MEGABYTE);
});

/** Sends until the client disconnects. */
function endless(socket: Socket): void {
  const chunk = Buffer.alloc(65_536, 'a');
  socket.write('HTTP/1.1 200 OK\r\n\r\n["');
  // After an error the server of this test may keep the socket, and every further write would fail at once.
  const send = (error?: Error | null) => {
    if (!error && !socket.destroyed) socket.write(chunk, send);
  };
  send();
}

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
