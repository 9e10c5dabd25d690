import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Caller } from '../../gateway/caller.ts';
import type { EventText, ResultSink } from '../../plugins/live/delivery.ts';
import type { Recipient, SendBuffer } from '../back-pressure/send-buffer.ts';
import type { SendBuffers } from '../back-pressure/send-buffers.ts';
import type { RequestSummary } from '../request/request-summary.ts';
import { type FrameScratch, FrameWriter } from './frame-writer.ts';

interface PacedSocketOptions {
  readonly socket: WebSocket;
  readonly stream: Socket;
  readonly caller: Caller;
  readonly buffers: SendBuffers;
  readonly scratch: FrameScratch;
}

/** A WebSocket with back-pressure: it is read only as fast as its answers are taken. */
export class PacedSocket implements Recipient {
  readonly socket: WebSocket;
  readonly stream: Socket;
  /** Has no token before `connection_init`. */
  caller: Caller;
  readonly unread: SendBuffer;
  readonly scratch: FrameScratch;
  /** Whether the client takes packed messages, the only extension that is accepted. */
  readonly takesPacked: boolean;
  /** Operations whose answers are not begun yet. */
  #waiting = 0;

  constructor({ socket, stream, caller, buffers, scratch }: PacedSocketOptions) {
    this.socket = socket;
    this.stream = stream;
    this.caller = caller;
    this.scratch = scratch;
    this.takesPacked = socket.extensions !== '';
    this.unread = buffers.open(stream, this);
  }

  get isOpen(): boolean {
    return this.socket.readyState === this.socket.OPEN;
  }

  /**
   * Resolves when the bytes are flushed, or can never be. A producer that awaits it buffers one message
   * at most for a reader that stalls.
   */
  send(text: string): Promise<void> {
    return new Promise((resolve) => {
      if (!this.isOpen) {
        resolve();
        return;
      }
      // `ws` would keep a compressor for each socket.
      this.socket.send(text, { compress: false }, () => {
        this.unread.measure();
        resolve();
      });
      this.unread.measure();
    });
  }

  /** Call it for each message received: a client that reads nothing is not read from either. */
  received(): void {
    this.unread.measure();
    if (!this.unread.isWithinShare) this.socket.pause();
  }

  /** Resolves when an operation may be begun; no further ones are read until then. */
  async room(): Promise<void> {
    if (this.unread.hasRoom()) return;
    this.#waiting += 1;
    this.socket.pause();
    await this.unread.room();
    this.#waiting -= 1;
    this.drained();
  }

  drained(): void {
    const mayRead = this.#waiting === 0 && this.unread.isWithinShare;
    if (mayRead && this.socket.isPaused) this.socket.resume();
  }
}

interface PacedResultsOptions {
  readonly id: string;
  readonly summary: RequestSummary;
  /** Called when a result has been written. */
  readonly sent: () => void;
}

/** Sends the results of one subscription as `next` messages, each when the one before is flushed. */
export class PacedResults implements ResultSink {
  readonly takesPacked: boolean;
  readonly #paced: PacedSocket;
  readonly #frames: FrameWriter;
  readonly #summary: RequestSummary;
  readonly #sent: () => void;
  #left: (() => void) | null = null;
  readonly #taken = () => {
    this.#paced.unread.measure();
    this.#left?.();
  };

  constructor(paced: PacedSocket, { id, summary, sent }: PacedResultsOptions) {
    this.takesPacked = paced.takesPacked;
    this.#paced = paced;
    this.#summary = summary;
    this.#sent = sent;
    const head = `{"id":${JSON.stringify(id)},"type":"next","payload":`;
    this.#frames = new FrameWriter(paced.stream, head, paced.scratch);
  }

  hasRoom(ready: () => void): boolean {
    const { unread } = this.#paced;
    if (unread.hasRoom()) return true;
    unread.whenRoom(ready);
    return false;
  }

  send(result: EventText, left: () => void): void {
    if (!this.#paced.isOpen) {
      left();
      return;
    }
    this.#left = left;
    this.#summary.sent(this.#frames.write(result, this.#taken));
    this.#sent();
    this.#paced.unread.measure();
  }
}
