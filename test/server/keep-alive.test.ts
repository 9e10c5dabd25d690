import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { KeepAlive, type Line } from '../../src/server/keep-alive.ts';
import { eventually } from '../support/eventually.ts';
import { createScriptedClock } from '../support/scripted-clock.ts';

const PING_MS = 12_000;
const SILENCE_MS = 75_000;

/** Both ends of some sockets, their server ends watched by one pulse. */
async function openLines(count: number) {
  const clock = createScriptedClock();
  const pulse = new KeepAlive({ clock, pingMs: PING_MS, silenceMs: SILENCE_MS });
  const http = createServer().listen(0, '127.0.0.1');
  await once(http, 'listening');
  const server = new WebSocketServer({ server: http });
  const { port } = http.address() as AddressInfo;
  const lines: { client: WebSocket; line: Line; pings: () => number; leave: () => void }[] = [];
  for (let at = 0; at < count; at += 1) {
    const arrived = once(server, 'connection');
    const client = new WebSocket(`ws://127.0.0.1:${port}`);
    let pings = 0;
    client.on('ping', () => {
      pings += 1;
    });
    const [socket] = (await arrived) as [WebSocket];
    const line: Line = { socket, lastReceivedAtMs: clock.now() };
    socket.on('pong', () => {
      line.lastReceivedAtMs = clock.now();
    });
    await eventually(() => client.readyState === client.OPEN);
    lines.push({ client, line, pings: () => pings, leave: pulse.join(line) });
  }
  return {
    clock,
    lines,
    async [Symbol.asyncDispose]() {
      for (const { client } of lines) client.terminate();
      server.close();
      http.close();
      await once(http, 'close');
    },
  };
}

test('every socket is pinged once in its time, not all of them at once', async () => {
  await using bench = await openLines(24);
  const pings = () => bench.lines.reduce((total, line) => total + line.pings(), 0);
  await bench.clock.advance(PING_MS / 12);
  await eventually(() => pings() === 2);
  await bench.clock.advance(PING_MS - PING_MS / 12);
  await eventually(() => pings() === 24);
  expect(bench.lines.every((line) => line.pings() === 1)).toBe(true);
});

test('a socket that answers lives on; one that is silent for too long is cut', async () => {
  await using bench = await openLines(2);
  const [reader, silent] = bench.lines;
  // Its kernel goes on taking bytes, as on a line whose other half is gone.
  silent?.client.pause();
  for (let rounds = 1; rounds <= 6; rounds += 1) {
    await bench.clock.advance(PING_MS);
    await eventually(() => reader?.pings() === rounds);
    await eventually(() => reader?.line.lastReceivedAtMs === bench.clock.now());
    expect(silent?.line.socket.readyState).toBe(WebSocket.OPEN);
  }
  // Each socket's turn comes at its own time within the interval.
  await bench.clock.advance(PING_MS * 2);
  await eventually(() => silent?.line.socket.readyState === WebSocket.CLOSED);
  expect(reader?.line.socket.readyState).toBe(WebSocket.OPEN);
});

test('a reader that is back within a minute has lost nothing', async () => {
  await using bench = await openLines(1);
  const [line] = bench.lines;
  line?.client.pause();
  await bench.clock.advance(60_000);
  expect(line?.line.socket.readyState).toBe(WebSocket.OPEN);
  line?.client.resume();
  await eventually(() => line?.line.lastReceivedAtMs === bench.clock.now());
  await bench.clock.advance(60_000);
  expect(line?.line.socket.readyState).toBe(WebSocket.OPEN);
});

test('no timer is left when the last socket has gone', async () => {
  await using bench = await openLines(3);
  expect(bench.clock.pending).toBe(1);
  for (const { leave } of bench.lines) leave();
  await bench.clock.advance(PING_MS);
  expect(bench.clock.pending).toBe(0);
});
