import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import {
  createKeepAlive,
  type PingTarget,
} from '../../../../engine/transports/websocket/keep-alive.ts';
import { eventually } from '../../../support/eventually.ts';
import { listenLocally } from '../../../support/local-server.ts';
import { createScriptedClock } from '../../../support/scripted-clock.ts';

const PING_MS = 12_000;
const HEARTBEAT_MS = 60_000;

/** Opens both ends of some sockets, their server ends under one keep-alive. */
async function openConnections(count: number, pingMs = PING_MS) {
  const clock = createScriptedClock();
  let pausedMs = 0;
  const now = () => clock.now() + pausedMs;
  const keepAlive = createKeepAlive({ ...clock, now }, pingMs, 60_000);
  const http = createServer();
  const server = new WebSocketServer({ server: http });
  const { port, [Symbol.asyncDispose]: close } = await listenLocally(http);
  const connect = async () => {
    const connected = once(server, 'connection');
    const client = new WebSocket(`ws://127.0.0.1:${port}`);
    let pings = 0;
    client.on('ping', () => {
      pings += 1;
    });
    const [socket] = (await connected) as [WebSocket];
    const slot = { settle: () => true };
    const target: PingTarget = {
      socket,
      slot,
      lastReceivedAtMs: clock.now(),
      unansweredPings: 0,
      lastEventAtMs: Number.NEGATIVE_INFINITY,
      lastPingAtMs: Number.NEGATIVE_INFINITY,
    };
    socket.on('pong', () => keepAlive.received(target));
    await eventually(() => expect(client.readyState).toBe(client.OPEN));
    const leave = keepAlive.join(target);
    const sendEvent = () => keepAlive.sentEvent(target);
    return { client, target, pings: () => pings, leave, sendEvent };
  };
  const connections: Awaited<ReturnType<typeof connect>>[] = [];
  while (connections.length < count) connections.push(await connect());
  return {
    clock,
    connections,
    /** The time passes at once, and no timer fires in between. */
    pauseProcess(ms: number) {
      pausedMs += ms;
    },
    async [Symbol.asyncDispose]() {
      for (const { client } of connections) client.terminate();
      server.close();
      await close();
    },
  };
}

test('every socket is pinged once per interval, not all of them together, and no timer is left behind the last', async () => {
  await using bench = await openConnections(24);
  const pings = () => bench.connections.reduce((total, target) => total + target.pings(), 0);
  await bench.clock.advance(PING_MS / 12);
  await eventually(() => expect(pings()).toBe(2));
  await bench.clock.advance(PING_MS - PING_MS / 12);
  await eventually(() => expect(pings()).toBe(24));
  expect(bench.connections.every((target) => target.pings() === 1)).toBe(true);
  expect(bench.clock.pending).toBe(1);
  for (const { leave } of bench.connections) leave();
  await bench.clock.advance(PING_MS);
  expect(bench.clock.pending).toBe(0);
});

test.each([0, 600_000])(
  'a socket that answers lives on, and a silent one is cut, also after the process has paused for %i ms',
  async (pauseMs) => {
    await using bench = await openConnections(2);
    const [reader, silent] = bench.connections;
    await bench.clock.advance(PING_MS);
    await eventually(() => reader?.pings() === 1 && silent?.pings() === 1);
    await eventually(() => bench.connections.every(({ target }) => target.unansweredPings === 0));
    bench.pauseProcess(pauseMs);
    // Its kernel goes on accepting bytes, as on a half-open connection.
    silent?.client.pause();
    // Six pings fit into the silence.
    for (let rounds = 2; rounds <= 7; rounds += 1) {
      await bench.clock.advance(PING_MS);
      await eventually(() => expect(reader?.pings()).toBe(rounds));
      await eventually(() => expect(reader?.target.unansweredPings).toBe(0));
      expect(silent?.target.socket.readyState).toBe(WebSocket.OPEN);
    }
    await bench.clock.advance(PING_MS);
    await eventually(() => expect(silent?.target.socket.readyState).toBe(WebSocket.CLOSED));
    expect(reader?.target.socket.readyState).toBe(WebSocket.OPEN);
  },
);

test('a socket whose bytes nobody reads is not pinged, and is cut all the same', async () => {
  await using bench = await openConnections(1);
  const [reader] = bench.connections;
  reader?.client.pause();
  // More than the network has room for.
  reader?.target.socket.send(Buffer.alloc(32_000_000));
  const unread = reader?.target.socket.bufferedAmount;
  await bench.clock.advance(PING_MS * 6);
  expect(reader?.target.socket.readyState).toBe(WebSocket.OPEN);
  expect(reader?.target.socket.bufferedAmount).toBe(unread);
  await bench.clock.advance(PING_MS * 2);
  await eventually(() => expect(reader?.target.socket.readyState).toBe(WebSocket.CLOSED));
});

test('a socket with a subscription is pinged with its events alone, until it has none for longer than any heartbeat', async () => {
  await using bench = await openConnections(1);
  const [reader] = bench.connections;
  for (let beats = 1; beats <= 4; beats += 1) {
    reader?.sendEvent();
    // A market that moves has several events in an interval.
    await bench.clock.advance(PING_MS - 1);
    reader?.sendEvent();
    await eventually(() => expect(reader?.target.unansweredPings).toBe(0));
    expect(reader?.pings()).toBe(beats);
    await bench.clock.advance(HEARTBEAT_MS - PING_MS);
  }
  reader?.sendEvent();
  await eventually(() => expect(reader?.pings()).toBe(5));
  await bench.clock.advance(HEARTBEAT_MS + PING_MS - 1);
  expect(reader?.pings()).toBe(5);
  await bench.clock.advance(PING_MS);
  await eventually(() => expect(reader?.pings()).toBe(6));
});
