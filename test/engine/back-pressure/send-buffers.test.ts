import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { SendBuffer } from '../../../engine/back-pressure/send-buffer.ts';
import { createSendBuffers } from '../../../engine/back-pressure/send-buffers.ts';
import { type Clock, systemClock } from '../../../lib/clock.ts';
import { addressClient } from '../../../lib/limits/client.ts';
import { eventually } from '../../support/eventually.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

// A connection's share is 1 kB, a client's 8 kB, half of the maximum 64 kB.
const MAX_BYTES = 128_000;

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

function open() {
  const clock = createScriptedClock();
  return { clock, ...openBy({ clock }) };
}

function openBy(times: { readonly clock: Clock; readonly unreadMs?: number }) {
  const cuts: string[] = [];
  const buffers = createSendBuffers({
    maxBytes: MAX_BYTES,
    clientOf: ({ client }) => addressClient(client?.address),
    ...times,
    onCut: (reason) => cuts.push(reason),
  });
  return {
    cuts,
    buffers,
    /** A connection of the client at an address. */
    connect(address: string, signal?: AbortSignal) {
      const peer = new Peer();
      let drained = 0;
      const caller = {
        token: null,
        client: { address, userAgent: null },
        ...(signal && { signal }),
      };
      const buffer: SendBuffer = buffers.open(peer as unknown as Socket, {
        caller,
        drained: () => {
          drained += 1;
        },
      });
      return {
        peer,
        buffer,
        caller,
        drained: () => drained,
        write(bytes: number) {
          peer.write(Buffer.alloc(bytes));
          buffer.measure();
        },
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
  const reader = connect('192.0.2.1');
  reader.write(1_000);
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

test('a wait ends with its request, and leaves nothing', async () => {
  const { connect } = open();
  const disconnected = new AbortController();
  const reader = connect('192.0.2.1', disconnected.signal);
  reader.write(1_001);
  const room = reader.buffer.room();
  expect(await isOver(room)).toBe(false);
  disconnected.abort();
  expect(await isOver(room)).toBe(true);
  // Nobody waits for a request that has ended already.
  expect(await isOver(reader.buffer.room())).toBe(true);
});

test('beyond its share a client waits, others do not; after 5 s its slowest reader is cut', async () => {
  const { connect, clock, cuts, buffers } = open();
  const slow = connect('192.0.2.1');
  slow.write(5_000);
  await clock.advance(10);
  const quicker = connect('192.0.2.1');
  quicker.write(3_000);
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
  const first = connect('192.0.2.1');
  first.write(8_000);
  await clock.advance(10);
  const second = connect('192.0.2.1');
  second.write(8_000);
  // What is just written is not counted.
  const third = connect('192.0.2.1');
  third.write(1);
  expect(cuts).toEqual([]);
  third.write(1);
  expect(cuts).toEqual(['client']);
  expect(first.peer.destroyed).toBe(true);
});

test('beyond half of the maximum whoever has unread bytes waits; beyond all of it the slowest is cut', async () => {
  const { connect, clock, cuts, buffers } = open();
  const readers = [];
  for (let at = 0; at < 8; at += 1) {
    const reader = connect(`192.0.2.${at}`);
    reader.write(8_000);
    readers.push(reader);
    await clock.advance(10);
  }
  const late = connect('192.0.2.8');
  expect(buffers.hasRoom(late.caller)).toBe(true);
  late.write(1);
  expect(buffers.hasRoom(late.caller)).toBe(false);
  expect(buffers.hasRoom({ token: null, client: { address: '192.0.2.9', userAgent: null } })).toBe(
    true,
  );
  for (let at = 9; at < 17; at += 1) connect(`192.0.2.${at}`).write(8_000);
  expect(cuts).toEqual([]);
  connect('192.0.2.17').write(1);
  expect(cuts).toEqual(['process']);
  expect(readers[0]?.peer.destroyed).toBe(true);
  expect(buffers.bytes).toBe(7 * 8_000 + 1 + 8 * 8_000 + 1);
});

test('a reader that read while the process was paused is not cut', async () => {
  const { cuts, connect } = openBy({ clock: systemClock, unreadMs: 300 });
  const reader = connect('10.0.0.1');
  reader.write(100);
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
