import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createSendBuffers } from '../../../../engine/transports/connections/send-buffers.ts';
import { systemClock } from '../../../../lib/clock.ts';
import { eventually } from '../../../support/eventually.ts';
import { listenLocally } from '../../../support/local-server.ts';
import { createScriptedClock, type ScriptedClock } from '../../../support/scripted-clock.ts';

// A connection's share is 1 kB, a client's 8 kB, half of the maximum 64 kB.
const MAX_BYTES = 128_000;
const MEGABYTE = 1_048_576;

/** A connection whose peer reads when it is told to. */
class Peer extends Writable {
  #taken: (() => void) | null = null;

  override _write(_bytes: Buffer, _encoding: string, taken: () => void): void {
    this.#taken = taken;
  }

  /** Reads the oldest write. */
  read(): void {
    const taken = this.#taken;
    this.#taken = null;
    taken?.();
  }

  resetAndDestroy(): void {
    this.destroy();
  }
}

interface Bounds {
  readonly maxBytes?: number;
  readonly clock?: ScriptedClock;
  readonly unreadMs?: number;
}

function open({ maxBytes = MAX_BYTES, clock = createScriptedClock(), ...times }: Bounds = {}) {
  const cuts: string[] = [];
  const buffers = createSendBuffers({
    maxBytes,
    clock,
    unreadMs: 30_000,
    patienceMs: 5_000,
    ...times,
    onCut: (reason) => cuts.push(reason),
  });
  return {
    clock,
    cuts,
    buffers,
    /** A connection of the client at an address, with so many bytes that it has not read. */
    connect(address: string, unread = 0) {
      const peer = new Peer();
      let drained = 0;
      const caller = { token: null, client: { address, userAgent: null } };
      const buffer = buffers.open(peer as unknown as Socket, {
        caller,
        drained: () => {
          drained += 1;
        },
      });
      const write = (bytes: number) => {
        peer.write(Buffer.alloc(bytes));
        buffer.measure();
      };
      if (unread > 0) write(unread);
      return {
        peer,
        buffer,
        caller,
        drained: () => drained,
        write,
        read() {
          peer.read();
          buffer.measure();
        },
      };
    },
  };
}

/** Whether a wait is over after what is deferred has run. */
async function isOver(wait: Promise<void>): Promise<boolean> {
  let over = false;
  void wait.then(() => {
    over = true;
  });
  await turn();
  await turn();
  return over;
}

test('an answer waits for the bytes before it on its connection, and begins when they are read', async () => {
  const { connect, buffers, clock } = open();
  const reader = connect('192.0.2.1', 1_000);
  expect(reader.buffer.hasRoom()).toBe(true);
  reader.write(1);
  expect(reader.buffer.hasRoom()).toBe(false);
  expect(reader.buffer.isWithinShare).toBe(false);
  // Another connection of the client is within its share.
  expect(buffers.hasRoom(reader.caller)).toBe(true);
  const room = reader.buffer.room();
  expect(await isOver(room)).toBe(false);
  reader.read();
  expect(reader.drained()).toBe(1);
  expect(await isOver(room)).toBe(true);
  reader.read();
  expect(buffers.bytes).toBe(0);
  // The look that was planned finds nothing unread, and is the last.
  await clock.advance(1_000);
  expect(clock.pending).toBe(0);
});

test('a wait ends with its connection, and takes no room from others of its client', async () => {
  const { connect, clock, cuts } = open();
  connect('192.0.2.1', 8_001);
  const reader = connect('192.0.2.1');
  const room = reader.buffer.room();
  expect(await isOver(room)).toBe(false);
  reader.buffer.release();
  expect(await isOver(room)).toBe(true);
  await clock.advance(5_000);
  expect(cuts).toEqual([]);
  // Nobody waits for a request that has ended already.
  expect(await isOver(reader.buffer.room())).toBe(true);
});

test('beyond its share a client waits, others do not; after 5 s its slowest reader is cut', async () => {
  const { connect, clock, cuts, buffers } = open();
  const slow = connect('192.0.2.1', 5_000);
  await clock.advance(10);
  const quicker = connect('192.0.2.1', 3_000);
  expect(buffers.hasRoom(slow.caller)).toBe(true);
  quicker.write(1);
  expect(buffers.hasRoom(slow.caller)).toBe(false);
  const other = connect('192.0.2.2');
  expect(other.buffer.hasRoom()).toBe(true);
  const room = connect('192.0.2.1').buffer.room();
  await clock.advance(4_900);
  expect(await isOver(room)).toBe(false);
  expect(cuts).toEqual([]);
  await clock.advance(1_100);
  expect(cuts).toEqual(['client']);
  expect(slow.peer.destroyed).toBe(true);
  expect(quicker.peer.destroyed).toBe(false);
  expect(await isOver(room)).toBe(true);
  expect(buffers.bytes).toBe(3_001);
});

test('answers in flight may take twice the share; then the slowest reader makes room', async () => {
  const { connect, clock, cuts } = open();
  const first = connect('192.0.2.1', 8_000);
  await clock.advance(10);
  connect('192.0.2.1', 8_000);
  // What is just written is not counted.
  const third = connect('192.0.2.1', 1);
  expect(cuts).toEqual([]);
  third.write(1);
  expect(cuts).toEqual(['client']);
  expect(first.peer.destroyed).toBe(true);
});

test('beyond half of the maximum whoever has unread bytes waits; beyond all of it the slowest is cut', async () => {
  const { connect, clock, cuts, buffers } = open();
  const readers = [];
  for (let at = 0; at < 8; at += 1) {
    readers.push(connect(`192.0.2.${at}`, 8_000));
    await clock.advance(10);
  }
  const late = connect('192.0.2.8');
  expect(buffers.hasRoom(late.caller)).toBe(true);
  late.write(1);
  expect(buffers.hasRoom(late.caller)).toBe(false);
  expect(buffers.hasRoom({ token: null, client: { address: '192.0.2.9', userAgent: null } })).toBe(
    true,
  );
  for (let at = 9; at < 17; at += 1) connect(`192.0.2.${at}`, 8_000);
  expect(cuts).toEqual([]);
  connect('192.0.2.17', 1);
  expect(cuts).toEqual(['process']);
  expect(readers[0]?.peer.destroyed).toBe(true);
  expect(buffers.bytes).toBe(7 * 8_000 + 1 + 8 * 8_000 + 1);
});

test('a reader that read while the process was paused is not cut', async () => {
  const { cuts, connect } = open({
    clock: { ...createScriptedClock(), ...systemClock },
    unreadMs: 300,
  });
  const reader = connect('10.0.0.1', 100);
  reader.write(100);
  await turn();
  // Both are due in the next turn of the event loop: the timer of the look, and then what the sockets have received.
  setImmediate(() => reader.read());
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);
  await turn();
  await turn();
  expect(cuts).toEqual([]);
  await eventually(() => expect(cuts).toEqual(['idle']));
});

test('a reader has 30 s for its next byte, however large the write is', async () => {
  const { clock, cuts, buffers } = open({ maxBytes: 1_000 * MEGABYTE });
  const server = createServer();
  await using listener = await listenLocally(server);
  const connected = once(server, 'connection');
  const client = connect(listener.port, '127.0.0.1').on('error', () => {});
  const [socket] = (await connected) as [Socket];
  socket.write(Buffer.alloc(96 * MEGABYTE));
  buffers.open(socket, { caller: { token: null } }).measure();
  for (let step = 1; step <= 3; step += 1) {
    await clock.advance(29_000);
    expect(cuts).toEqual([]);
    // Far more than the kernel buffers: it must have accepted bytes of the write.
    const total = step * 24 * MEGABYTE;
    client.removeAllListeners('data');
    client.on('data', () => client.bytesRead >= total && client.pause());
    client.resume();
    await eventually(() => expect(client.bytesRead).toBeGreaterThanOrEqual(total));
  }
  await clock.advance(29_000);
  expect(cuts).toEqual([]);
  expect(buffers.bytes).toBe(96 * MEGABYTE);
  await clock.advance(3_000);
  expect(cuts).toEqual(['idle']);
  expect(buffers.bytes).toBe(0);
});
