import type { Socket } from 'node:net';
import type { RequestCaller } from '../../../lib/caller.ts';
import { acceptedBytes } from '../../../lib/private-node.ts';

/** The client of a connection. */
export interface Recipient {
  readonly caller: RequestCaller;
  /** Called when the unread bytes have decreased. */
  drained?(): void;
}

/** The unread bytes of all connections of one client, which is a proved account or else an address. */
export interface ClientBytes {
  readonly key: string;
  bytes: number;
}

/** Sums the unread bytes of all connections. */
export interface BufferSums {
  /** The maximum of unread bytes beyond the answer being written. */
  readonly perConnection: number;
  changed(buffer: SendBuffer, bytes: number): void;
  hasRoom(caller: RequestCaller, connectionBytes: number): boolean;
  /** Calls back once when there may be room. */
  wait(buffer: SendBuffer, ready: () => void): void;
  /** Calls those back who need wait no longer. */
  wakeSoon(): void;
}

/** Measures the bytes that were written to one connection and that its client has not read. */
export class SendBuffer {
  readonly socket: Socket;
  readonly recipient: Recipient;
  /** The unread bytes, as of the last measurement. */
  bytes = 0;
  /** Null where nothing is unread. */
  client: ClientBytes | null = null;
  /** The time when the kernel last accepted a byte, or when the first of these was written. */
  progressAtMs = 0;
  /** Whether the client has had its answer, or has disconnected: nothing waits for it any more. */
  isReleased = false;
  readonly #sums: BufferSums;
  #accepted = 0;

  constructor(sums: BufferSums, socket: Socket, recipient: Recipient) {
    this.#sums = sums;
    this.socket = socket;
    this.recipient = recipient;
  }

  /** Call it after each write, and when one is flushed. It is cheap where the kernel accepted everything. */
  measure(): void {
    const { socket } = this;
    const bytes = socket.destroyed ? 0 : socket.writableLength;
    if (bytes !== this.bytes) this.#sums.changed(this, bytes);
  }

  /** Call it after a write to a chunked response, which node corks until the next tick. */
  measureSoon(): void {
    process.nextTick(() => this.measure());
  }

  /** Node counts a single large write in full until its last byte, so progress is read from the handle. */
  begin(nowMs: number): void {
    this.progressAtMs = nowMs;
    this.#accepted = acceptedBytes(this.socket);
  }

  /** Records what the kernel has accepted since the last call. */
  look(nowMs: number): void {
    this.measure();
    const accepted = acceptedBytes(this.socket);
    if (accepted === this.#accepted) return;
    this.#accepted = accepted;
    this.progressAtMs = nowMs;
  }

  /** Whether this connection is below its own limit, whatever its client's others have unread. */
  get isWithinShare(): boolean {
    return this.bytes <= this.#sums.perConnection;
  }

  /** Calls `ready` later, where there is no room now, once there may be some: its caller checks again then. */
  hasRoom(ready?: () => void): boolean {
    const hasRoom = this.#sums.hasRoom(this.recipient.caller, this.bytes);
    if (!hasRoom && ready) this.#sums.wait(this, ready);
    return hasRoom;
  }

  /** Resolves when the next answer may begin, or the client has disconnected. */
  async room(): Promise<void> {
    while (!this.isReleased && !this.hasRoom()) {
      await new Promise<void>((ready) => this.#sums.wait(this, ready));
    }
  }

  release(): void {
    this.isReleased = true;
    if (this.bytes > 0) this.#sums.changed(this, 0);
    this.#sums.wakeSoon();
  }
}
