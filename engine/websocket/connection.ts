import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { RequestCaller } from '../../lib/caller.ts';
import type { Slot } from '../../lib/limits/slot.ts';
import type { Trace, TraceHeaders } from '../../lib/tracing/tracing.ts';
import type { Recipient, SendBuffer } from '../back-pressure/send-buffer.ts';
import type { EventText, ResultSink } from '../live/delivery.ts';
import type { ClientNaming, RequestSummary } from '../request/request-summary.ts';
import { forwardedFrom } from '../request/request-trace.ts';
import type { ServerSettings } from '../server-settings.ts';
import { type FrameScratch, FrameWriter } from './frame-writer.ts';
import type { PingTarget } from './keep-alive.ts';

/** A WebSocket and its operations, with back-pressure: it is read only as fast as its answers are taken. */
export class Connection implements Recipient, PingTarget {
  readonly socket: WebSocket;
  readonly stream: Socket;
  readonly slot: Slot;
  readonly scratch: FrameScratch;
  readonly unread: SendBuffer;
  /** Whether the client takes packed messages, the only extension that is accepted. */
  readonly takesPacked: boolean;
  readonly requestId: string | string[] | undefined;
  /** The upgrade's, to which operations are linked; or, where tracing is off, what is sent on of them. */
  readonly traceHeaders: TraceHeaders;
  readonly forwarded: Trace | undefined;
  /** The ids of operations other than subscriptions whose answer is still to be sent. */
  readonly inFlight = new Set<string>();
  /** The operations that have not ended, by their ids. */
  readonly summaries = new Map<string, RequestSummary>();
  /** Has no token before `connection_init`. */
  caller: RequestCaller;
  client: ClientNaming | null;
  /** The size of the message that is handled now. */
  bytesIn = 0;
  /** The request that the message begins. */
  begun: RequestSummary | null = null;
  lastReceivedAtMs: number;
  unansweredPings = 0;
  lastEventAtMs = Number.NEGATIVE_INFINITY;
  lastPingAtMs = Number.NEGATIVE_INFINITY;
  /** Operations whose answers are not begun yet. */
  #waiting = 0;
  readonly #disconnecting = new AbortController();

  constructor(
    socket: WebSocket,
    request: IncomingMessage,
    slot: Slot,
    scratch: FrameScratch,
    { addresses, buffers, clientNames, clientOf, clock, tracing }: ServerSettings,
  ) {
    const { headers } = request;
    this.socket = socket;
    this.stream = request.socket;
    this.slot = slot;
    slot.owner = () => clientOf(this.caller);
    this.scratch = scratch;
    this.takesPacked = socket.extensions !== '';
    this.requestId = headers['x-request-id'];
    // The headers alone, so that the request is not retained with them.
    const { traceparent, tracestate, baggage } = headers;
    this.traceHeaders = tracing === null ? {} : { traceparent, tracestate, baggage };
    this.forwarded = tracing === null ? forwardedFrom(request, addresses) : undefined;
    const client = { address: addresses.of(request), userAgent: headers['user-agent'] ?? null };
    this.caller = { token: null, signal: this.#disconnecting.signal, client };
    this.client = clientNames.fromHeaders(headers);
    this.lastReceivedAtMs = clock.now();
    this.unread = buffers.open(this.stream, this);
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

  /** Aborts what is read for the client, and frees what it left unread. */
  closed(): void {
    this.#disconnecting.abort();
    this.unread.release();
  }
}

/** Sends the results of one subscription as `next` messages, each when the one before is flushed. */
export class PacedResults implements ResultSink {
  readonly takesPacked: boolean;
  readonly #connection: Connection;
  readonly #frames: FrameWriter;
  readonly #summary: RequestSummary;
  readonly #sent: () => void;
  #left: (() => void) | null = null;
  readonly #taken = () => {
    this.#connection.unread.measure();
    this.#left?.();
  };

  /** Calls `sent` when a result has been written. */
  constructor(connection: Connection, id: string, summary: RequestSummary, sent: () => void) {
    this.takesPacked = connection.takesPacked;
    this.#connection = connection;
    this.#summary = summary;
    this.#sent = sent;
    const head = `{"id":${JSON.stringify(id)},"type":"next","payload":`;
    this.#frames = new FrameWriter(connection.stream, head, connection.scratch);
  }

  hasRoom(ready: () => void): boolean {
    return this.#connection.unread.hasRoom(ready);
  }

  send(result: EventText, left: () => void): void {
    if (!this.#connection.isOpen) {
      left();
      return;
    }
    this.#left = left;
    this.#summary.sent(this.#frames.write(result, this.#taken));
    this.#sent();
    this.#connection.unread.measure();
  }
}
