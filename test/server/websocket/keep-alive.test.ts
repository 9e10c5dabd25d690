import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { KeepAlive, type PingTarget } from '../../../src/server/websocket/keep-alive.ts';
import { eventually } from '../../support/eventually.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

const PING_MS = 12_000;
const SILENCE_MS = 75_000;

/** Opens both ends of some sockets, their server ends under one keep-alive. */
async function openConnections(count: number) {
  const clock = createScriptedClock();
  const keepAlive = new KeepAlive({ clock, pingMs: PING_MS, silenceMs: SILENCE_MS });
  const http = createServer().listen(0, '127.0.0.1');
  await once(http, 'listening');
  const server = new WebSocketServer({ server: http });
  const { port } = http.address() as AddressInfo;
  const connections: {
    client: WebSocket;
    target: PingTarget;
    pings: () => number;
    leave: () => void;
  }[] = [];
  for (let at = 0; at < count; at += 1) {
    const connected = once(server, 'connection');
    const client = new WebSocket(`ws://127.0.0.1:${port}`);
    let pings = 0;
    client.on('ping', () => {
      pings += 1;
    });
    const [socket] = (await connected) as [WebSocket];
    const target: PingTarget = { socket, lastReceivedAtMs: clock.now() };
    socket.on('pong', () => {
      target.lastReceivedAtMs = clock.now();
    });
    await eventually(() => client.readyState === client.OPEN);
    connections.push({ client, target, pings: () => pings, leave: keepAlive.join(target) });
  }
  return {
    clock,
    connections,
    async [Symbol.asyncDispose]() {
      for (const { client } of connections) client.terminate();
      server.close();
      http.close();
      await once(http, 'close');
    },
  };
}

test('every socket is pinged once per interval, not all of them together', async () => {
  await using bench = await openConnections(24);
  const pings = () => bench.connections.reduce((total, target) => total + target.pings(), 0);
  await bench.clock.advance(PING_MS / 12);
  await eventually(() => pings() === 2);
  await bench.clock.advance(PING_MS - PING_MS / 12);
  await eventually(() => pings() === 24);
  expect(bench.connections.every((target) => target.pings() === 1)).toBe(true);
});

test('a socket that answers lives on; one that is silent for too long is cut', async () => {
  await using bench = await openConnections(2);
  const [reader, silent] = bench.connections;
  // Its kernel goes on accepting bytes, as on a half-open connection.
  silent?.client.pause();
  for (let rounds = 1; rounds <= 6; rounds += 1) {
    await bench.clock.advance(PING_MS);
    await eventually(() => reader?.pings() === rounds);
    await eventually(() => reader?.target.lastReceivedAtMs === bench.clock.now());
    expect(silent?.target.socket.readyState).toBe(WebSocket.OPEN);
  }
  // Each socket is pinged at its own time within the interval.
  await bench.clock.advance(PING_MS * 2);
  await eventually(() => silent?.target.socket.readyState === WebSocket.CLOSED);
  expect(reader?.target.socket.readyState).toBe(WebSocket.OPEN);
});

test('a reader that resumes within a minute has lost nothing', async () => {
  await using bench = await openConnections(1);
  const [target] = bench.connections;
  target?.client.pause();
  await bench.clock.advance(60_000);
  expect(target?.target.socket.readyState).toBe(WebSocket.OPEN);
  target?.client.resume();
  await eventually(() => target?.target.lastReceivedAtMs === bench.clock.now());
  await bench.clock.advance(60_000);
  expect(target?.target.socket.readyState).toBe(WebSocket.OPEN);
});

test('no timer is left when the last socket has closed', async () => {
  await using bench = await openConnections(3);
  expect(bench.clock.pending).toBe(1);
  for (const { leave } of bench.connections) leave();
  await bench.clock.advance(PING_MS);
  expect(bench.clock.pending).toBe(0);
});
