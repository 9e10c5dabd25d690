import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { clientOf, type RequestCaller } from '../../../lib/caller.ts';
import type { HeaderForwarding } from '../../../lib/forwarded-headers.ts';
import type { Slot } from '../../../lib/limits/slot.ts';
import { toToken } from '../../../lib/token.ts';
import type { Trace, TraceHeaders } from '../../../lib/tracing/tracing.ts';
import type { ClientNaming } from '../../operation/request-summary.ts';
import type { PartsFormat } from '../../operation/transport-context.ts';
import { CLOSINGS, type Closing } from '../connections/closings.ts';
import type { Recipient, SendBuffer } from '../connections/send-buffer.ts';
import { bearerText, isOfUser } from '../requests/bearer.ts';
import { forwardedFrom } from '../requests/request-trace.ts';
import type { ServerSettings } from '../requests/server-settings.ts';
import type { KeepAlive, PingTarget } from './keep-alive.ts';

/** The settings of all sockets. */
export interface SocketSettings extends ServerSettings {
  readonly keepAlive: KeepAlive;
}

const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});
// A close frame holds no more.
const MAX_REASON_BYTES = 123;

/** The line to one WebSocket client, with back-pressure: it is read only as fast as its answers are taken. */
export class Connection implements Recipient, PingTarget {
  readonly socket: WebSocket;
  readonly stream: Socket;
  readonly slot: Slot;
  readonly keepAlive: KeepAlive;
  readonly unread: SendBuffer;
  /** Whether the client takes packed messages, the only extension that is accepted. */
  readonly takesPacked: boolean;
  readonly requestId: string | string[] | undefined;
  /** The upgrade's headers, to which the traces of operations are linked; none where tracing is off. */
  readonly traceHeaders: TraceHeaders;
  /** The upgrade's trace as it is sent on where tracing is off. */
  readonly forwardedTrace: Trace | undefined;
  /** Has no token before `connection_init`. */
  caller: RequestCaller;
  /** The sign by which its client wants to learn that its token has ended. */
  onTokenEnd: 'close' | 'error' = 'close';
  /** How its client reads answers in parts. */
  partsFormat: PartsFormat = 'deferSpec';
  /** The headers that `connectionParams` give, in place of a request's. */
  headers: Readonly<Record<string, string>> = NO_HEADERS;
  /** The token of its page's visitor, for a client that sends none. */
  readonly #cookieText: string | undefined;
  client: ClientNaming | null;
  lastReceivedAtMs: number;
  unansweredPings = 0;
  lastEventAtMs = Number.NEGATIVE_INFINITY;
  lastPingAtMs = Number.NEGATIVE_INFINITY;
  /** The operations that wait until their client has read enough. */
  #waiting = 0;
  readonly #forwarding: HeaderForwarding;
  readonly #standingOf: ServerSettings['standingOf'];
  /** The headers of the upgrade that are forwarded: a proxy sets them there, as it does in any request. */
  readonly #upgraded: Readonly<Record<string, string>>;

  constructor(socket: WebSocket, request: IncomingMessage, slot: Slot, settings: SocketSettings) {
    const { addresses, buffers, clientNames, clock, forwarding, tokens, tracing } = settings;
    const { headers } = request;
    this.socket = socket;
    this.stream = request.socket;
    this.slot = slot;
    slot.owner = () => clientOf(this.caller);
    this.keepAlive = settings.keepAlive;
    this.takesPacked = socket.extensions !== '';
    this.requestId = headers['x-request-id'];
    // The headers alone, so that the request is not retained with them.
    const { traceparent, tracestate, baggage } = headers;
    this.traceHeaders = tracing === null ? {} : { traceparent, tracestate, baggage };
    this.forwardedTrace = tracing === null ? forwardedFrom(request, addresses) : undefined;
    const client = { address: addresses.of(request), userAgent: headers['user-agent'] ?? null };
    this.caller = { token: null, client };
    this.#forwarding = forwarding;
    this.#standingOf = settings.standingOf;
    this.#upgraded = forwarding.in(headers);
    // A browser says which page it is for, and others were refused: without it nobody knows whose cookie it is.
    const cookie = headers.origin === undefined ? '' : (headers.cookie ?? '');
    this.#cookieText = tokens.cookie?.textIn(cookie);
    this.client = clientNames.fromHeaders(headers);
    this.lastReceivedAtMs = clock.now();
    this.unread = buffers.open(this.stream, this);
  }

  /** The token is judged by the operations that use it. */
  initialize(authorization: string, given: Readonly<Record<string, string>>): void {
    const { client } = this.caller;
    const headers = { ...given, ...this.#upgraded };
    const forwarded = this.#forwarding.of(headers);
    const text = isOfUser(authorization) ? bearerText(authorization) : this.#cookieText;
    const token = text ? toToken(text, forwarded?.digest) : null;
    this.caller = { token, standing: this.#standingOf(token), client, forwarded };
    this.headers = headers;
  }

  get isOpen(): boolean {
    return this.socket.readyState === this.socket.OPEN;
  }

  /** Sends a message of the protocol. `ws` would keep a compressor for each socket. */
  say(text: string): void {
    if (!this.isOpen) return;
    this.socket.send(text, { compress: false }, () => this.unread.measure());
    this.unread.measure();
  }

  close(closing: Closing, ownReason?: string): void {
    const [code, reason] = CLOSINGS[closing];
    this.closeWith(code, ownReason ?? reason);
  }

  /** Closes it as the protocol says. A reason that tells a client's own long text is left out. */
  closeWith(code: number, reason: string): void {
    this.socket.close(code, Buffer.byteLength(reason) > MAX_REASON_BYTES ? '' : reason);
  }

  /** Charges the socket to the account that is proved by now. False where that has too many, and this one is closed. */
  claim(): boolean {
    if (this.slot.settle()) return true;
    this.close('sockets');
    return false;
  }

  /** Call it for each message received: a client that reads nothing is not read from either. */
  received(): void {
    this.keepAlive.received(this);
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
