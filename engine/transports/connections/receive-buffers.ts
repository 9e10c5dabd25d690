import type { Socket } from 'node:net';
import { type Clock, recurring } from '../../../lib/clock.ts';
import { ReceiveBuffer, type SendFault } from './receive-buffer.ts';

interface ReceiveBuffersOptions {
  /** The maximum of bytes of all connections that have not arrived whole. */
  readonly maxBytes: number;
  readonly clock: Clock;
  /** The time within which a message has to arrive. */
  readonly unfinishedMs: number;
  readonly onCut?: (fault: SendFault) => void;
}

const LOOK_MS = 1_000;
const ROUND_MS = 5;
// Several connections are cut at a time, since finding the largest of thousands takes a while.
const RELIEF = 7 / 8;

export type ReceiveBuffers = ReturnType<typeof createReceiveBuffers>;

/** Bounds what clients send: what has not arrived whole, in all and by age, and how much is handled before others go. */
export function createReceiveBuffers(options: ReceiveBuffersOptions) {
  const { maxBytes, clock, unfinishedMs, onCut } = options;
  const buffers = new WeakMap<Socket, ReceiveBuffer>();
  const unfinished = new Set<ReceiveBuffer>();
  const waiting = new Set<ReceiveBuffer>();
  let lastAddress: string | null = null;
  let total = 0;
  let roundBeganAtMs: number | null = null;
  const lookFromNowOn = recurring(clock, Math.min(LOOK_MS, unfinishedMs / 10), look);

  function look(): boolean {
    for (const buffer of unfinished) {
      if (buffer.isOverdue(unfinishedMs)) cut(buffer, 'age');
    }
    return unfinished.size > 0;
  }

  function relieve(): void {
    const largestFirst = [...unfinished].sort((one, other) => other.bytes - one.bytes);
    for (const buffer of largestFirst) {
      if (total <= maxBytes * RELIEF) return;
      cut(buffer, 'process');
    }
  }

  function cut(buffer: ReceiveBuffer, fault: SendFault): void {
    if (buffer.isStopped) return;
    buffer.cut(fault);
    onCut?.(fault);
  }

  const sums = {
    clock,
    /** The bytes of all connections that have not arrived whole. */
    get bytes(): number {
      return total;
    },
    /** The client whose bytes were handed on last: probably its are what ends the process. */
    get lastAddress(): string | null {
      return lastAddress;
    },
    /** Call it for each connection before its first byte is read. */
    open(socket: Socket, address = ''): void {
      buffers.set(socket, new ReceiveBuffer(sums, socket, address));
    },
    /** Every connection of the public listener has one. */
    of(socket: Socket): ReceiveBuffer {
      return buffers.get(socket) as ReceiveBuffer;
    },
    handing({ address }: ReceiveBuffer): void {
      lastAddress = address;
    },
    changed(buffer: ReceiveBuffer, bytes: number): void {
      const added = bytes - buffer.bytes;
      if (buffer.bytes === 0) {
        unfinished.add(buffer);
        lookFromNowOn();
      }
      buffer.bytes = bytes;
      total += added;
      if (bytes === 0) unfinished.delete(buffer);
      if (total > maxBytes) relieve();
    },
    /** An immediate for each: node runs what a message has set off, such as the flush of its answer, in between. */
    later(buffer: ReceiveBuffer): void {
      if (waiting.has(buffer)) return;
      waiting.add(buffer);
      setImmediate(() => {
        waiting.delete(buffer);
        if (sums.isRoundOver()) sums.later(buffer);
        else buffer.turn();
      });
    },
    /** All turns between two looks at the sockets are one round, or thirty floods would make one long hold. */
    isRoundOver(): boolean {
      const nowMs = performance.now();
      if (roundBeganAtMs === null) {
        roundBeganAtMs = nowMs;
        // It runs in the next turn of the event loop, before what is put off until then.
        setImmediate(() => {
          roundBeganAtMs = null;
        });
      }
      return nowMs - roundBeganAtMs >= ROUND_MS;
    },
    cut,
    /** Reads no more of a connection that closes as soon as it is told why. */
    stop(buffer: ReceiveBuffer, fault: SendFault): void {
      buffer.stop();
      onCut?.(fault);
    },
  };
  return sums;
}
