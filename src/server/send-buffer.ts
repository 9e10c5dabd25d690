import type { Socket } from 'node:net';
import type { Caller } from '../gateway/caller.ts';

/** The client at the other end of a connection. */
export interface Recipient {
  readonly caller: Caller;
  /** Called when fewer bytes are unread than before. */
  drained?(): void;
}

/** What all connections of one client have not taken; a client is a proved account, else an address. */
export interface ClientBytes {
  readonly key: string;
  bytes: number;
}

/** Adds up what the buffers of all connections hold. */
export interface BufferSums {
  /** How many bytes beyond the answer in hand. */
  readonly perConnection: number;
  /** Called by a buffer that has measured itself. */
  changed(buffer: SendBuffer, bytes: number): void;
  hasRoom(caller: Caller, connectionBytes: number): boolean;
  room(caller: Caller, buffer: SendBuffer): Promise<void>;
  whenRoom(caller: Caller, buffer: SendBuffer, ready: () => void): void;
}

/** The bytes that one connection's reader has been sent and has not taken. */
export class SendBuffer {
  readonly socket: Socket;
  readonly recipient: Recipient;
  /** As of the last measurement. */
  bytes = 0;
  /** Null where nothing is unread. */
  client: ClientBytes | null = null;
  /** When the kernel last accepted a byte, or the first of these was written. */
  progressAtMs = 0;
  readonly #sums: BufferSums;
  #accepted = 0;

  constructor(sums: BufferSums, socket: Socket, recipient: Recipient) {
    this.#sums = sums;
    this.socket = socket;
    this.recipient = recipient;
  }

  /** To be called after each write, and when one has been taken. Cheap where the kernel took everything. */
  measure(): void {
    const { socket } = this;
    const bytes = socket.destroyed ? 0 : socket.writableLength;
    if (bytes !== this.bytes) this.#sums.changed(this, bytes);
  }

  /** After a write to a response in chunks: node keeps what a turn brings together until its end. */
  measureSoon(): void {
    process.nextTick(() => this.measure());
  }

  /** A single large write is one item to node's stream until its last byte: its own figures say too little. */
  begin(nowMs: number): void {
    this.progressAtMs = nowMs;
    this.#accepted = acceptedBytes(this.socket);
  }

  /** Takes note of what the kernel has accepted since the last look. */
  look(nowMs: number): void {
    this.measure();
    const accepted = acceptedBytes(this.socket);
    if (accepted === this.#accepted) return;
    this.#accepted = accepted;
    this.progressAtMs = nowMs;
  }

  /** Whether the connection itself may be sent more, whatever its client's others hold. */
  get isWithinShare(): boolean {
    return this.bytes <= this.#sums.perConnection;
  }

  hasRoom(): boolean {
    return this.#sums.hasRoom(this.recipient.caller, this.bytes);
  }

  /** Resolves when the next answer may be made, or its reader has left. */
  room(): Promise<void> {
    return this.#sums.room(this.recipient.caller, this);
  }

  /** Calls back once when there may be room: to be asked again then. */
  whenRoom(ready: () => void): void {
    this.#sums.whenRoom(this.recipient.caller, this, ready);
  }

  release(): void {
    if (this.bytes > 0) this.#sums.changed(this, 0);
  }
}

interface StreamHandle {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}

/** The same figures that node's own socket timeout goes by; there is no public name for them. */
function acceptedBytes(socket: Socket): number {
  const { _handle: handle } = socket as unknown as { readonly _handle: StreamHandle | null };
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
}
