import type { Socket } from 'node:net';
import { type Clock, recurring } from '../../../lib/clock.ts';
import { ReceiveBuffer, type ReceiveSums, type SendFault } from './receive-buffer.ts';

export interface ReceiveBuffersOptions {
  /** The maximum of bytes of all connections that have not arrived whole. */
  readonly maxBytes: number;
  readonly clock: Clock;
  /** The time within which a message has to arrive. */
  readonly unfinishedMs?: number | undefined;
  readonly onCut?: (fault: SendFault) => void;
}

const UNFINISHED_MS = 30_000;
const LOOK_MS = 1_000;
const ROUND_MS = 5;
// Several connections are cut at a time, since finding the largest of thousands takes a while.
const RELIEF = 7 / 8;

/**
 * Bounds what clients send: the messages and bodies that have not arrived whole, in all and by their age,
 * and how much of it is handled before others go.
 */
export class ReceiveBuffers implements ReceiveSums {
  readonly clock: Clock;
  readonly #options: ReceiveBuffersOptions;
  readonly #unfinishedMs: number;
  readonly #buffers = new WeakMap<Socket, ReceiveBuffer>();
  readonly #unfinished = new Set<ReceiveBuffer>();
  readonly #waiting = new Set<ReceiveBuffer>();
  /** The client whose bytes were handed on last: probably its are what ends the process. */
  lastAddress: string | null = null;
  #bytes = 0;
  readonly #lookFromNowOn: () => void;
  #roundBeganAtMs: number | null = null;

  constructor(options: ReceiveBuffersOptions) {
    this.#options = options;
    this.clock = options.clock;
    this.#unfinishedMs = options.unfinishedMs ?? UNFINISHED_MS;
    const everyMs = Math.min(LOOK_MS, this.#unfinishedMs / 10);
    this.#lookFromNowOn = recurring(options.clock, everyMs, () => this.#look());
  }

  /** The bytes of all connections that have not arrived whole. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Call it for each connection before its first byte is read. */
  open(socket: Socket, address = ''): void {
    this.#buffers.set(socket, new ReceiveBuffer(this, socket, address));
  }

  handing({ address }: ReceiveBuffer): void {
    this.lastAddress = address;
  }

  /** Every connection of the public listener has one. */
  of(socket: Socket): ReceiveBuffer {
    return this.#buffers.get(socket) as ReceiveBuffer;
  }

  changed(buffer: ReceiveBuffer, bytes: number): void {
    const added = bytes - buffer.bytes;
    if (buffer.bytes === 0) {
      this.#unfinished.add(buffer);
      this.#lookFromNowOn();
    }
    buffer.bytes = bytes;
    this.#bytes += added;
    if (bytes === 0) this.#unfinished.delete(buffer);
    if (this.#bytes > this.#options.maxBytes) this.#relieve();
  }

  /** An immediate for each: node runs what a message has set off, such as the flush of its answer, in between. */
  later(buffer: ReceiveBuffer): void {
    if (this.#waiting.has(buffer)) return;
    this.#waiting.add(buffer);
    setImmediate(() => {
      this.#waiting.delete(buffer);
      if (this.isRoundOver()) this.later(buffer);
      else buffer.turn();
    });
  }

  /** All turns between two looks at the sockets are one round, or thirty floods would make one long hold. */
  isRoundOver(): boolean {
    const nowMs = performance.now();
    if (this.#roundBeganAtMs === null) {
      this.#roundBeganAtMs = nowMs;
      // It runs in the next turn of the event loop, before what is put off until then.
      setImmediate(() => {
        this.#roundBeganAtMs = null;
      });
    }
    return nowMs - this.#roundBeganAtMs >= ROUND_MS;
  }

  #relieve(): void {
    const largestFirst = [...this.#unfinished].sort((one, other) => other.bytes - one.bytes);
    for (const buffer of largestFirst) {
      if (this.#bytes <= this.#options.maxBytes * RELIEF) return;
      this.cut(buffer, 'process');
    }
  }

  cut(buffer: ReceiveBuffer, fault: SendFault): void {
    if (buffer.isStopped) return;
    buffer.cut(fault);
    this.#options.onCut?.(fault);
  }

  /** Reads no more of a connection that closes as soon as it is told why. */
  stop(buffer: ReceiveBuffer, fault: SendFault): void {
    buffer.stop();
    this.#options.onCut?.(fault);
  }

  #look(): boolean {
    for (const buffer of this.#unfinished) {
      if (buffer.isOverdue(this.#unfinishedMs)) this.cut(buffer, 'age');
    }
    return this.#unfinished.size > 0;
  }
}
