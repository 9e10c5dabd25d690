import type { IncomingMessage, ServerResponse } from 'node:http';
import { fireAndForget } from '../../../lib/fire-and-forget.ts';
import { clientOf, type RequestCaller } from '../../../lib/limits/caller.ts';
import type { MaybePromise } from '../../../lib/maybe-promise.ts';
import {
  type Body,
  bodyBytes,
  type Encoding,
  isChunks,
  PACK_FROM_BYTES,
  pack,
} from '../../../lib/pack.ts';
import { markNotSent, overLimit } from '../../operation/refusal.ts';
import { requestError } from '../../operation/request-error.ts';
import type { RequestSummary } from '../../operation/request-summary.ts';
import { BYTES_OF_PIECES } from '../connections/message-budget.ts';
import type { Connection } from '../connections/open-connections.ts';
import { requestIdOf } from '../requests/request-id.ts';
import type { ServerSettings } from '../requests/server-settings.ts';

// Each matches its name without a weight, or with one above 0.
const BROTLI = /(?:^|,)\s*br\s*(?:,|$|;\s*q=(?:[1-9]|0?\.\d*[1-9]))/i;
const GZIP = /(?:^|,)\s*gzip\s*(?:,|$|;\s*q=(?:[1-9]|0?\.\d*[1-9]))/i;

const FLOOD_RETRY_SECONDS = 10;

export const VARY = 'Authorization, Accept, Accept-Encoding, Origin';
const SAFE_HEADERS = {
  vary: VARY,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

/** The response to one HTTP request. */
export class HttpReply {
  readonly request: IncomingMessage;
  readonly requestId: string;
  readonly caller: RequestCaller;
  /** Null if the request is not for GraphQL. */
  summary: RequestSummary | null = null;
  readonly #disconnecting = new AbortController();
  readonly #response: ServerResponse;
  readonly #connection: Connection;
  readonly #settings: ServerSettings;
  /** Node writes one object of headers faster than headers that are set one by one. */
  readonly #headers: Record<string, string>;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    sender: RequestCaller,
    connection: Connection,
    settings: ServerSettings,
  ) {
    const requestId = requestIdOf(request.headers['x-request-id']);
    this.request = request;
    this.requestId = requestId;
    this.caller = { ...sender, signal: this.disconnected, requestId };
    this.#response = response;
    this.#connection = connection;
    this.#settings = settings;
    connection.underWay += 1;
    this.#headers = { ...SAFE_HEADERS, 'x-request-id': requestId };
    response.on('close', () => this.#closed());
  }

  /** Aborts when the client has disconnected, to stop the work for it. */
  get disconnected(): AbortSignal {
    return this.#disconnecting.signal;
  }

  /** Sends an error response if `task` throws or rejects. */
  guard(task: () => MaybePromise<void>): void {
    try {
      task()?.catch((error: unknown) => this.#failed(error));
    } catch (error) {
      this.#failed(error);
    }
  }

  set(name: string, value: string): void {
    this.#headers[name] = value;
  }

  setAll(headers: Readonly<Record<string, string>>): void {
    Object.assign(this.#headers, headers);
  }

  /** Closes the connection of a request whose body arrives in more pieces than its size explains. */
  cutForPieces(): void {
    const { messages, metrics } = this.#settings;
    metrics.connectionsCut.inc({ reason: 'pieces' });
    messages.take(clientOf(this.caller), BYTES_OF_PIECES);
    this.request.socket.destroy();
  }

  /** Sends a whole body, compressed as the client accepts; compression runs off the event loop. */
  send(status: number, body: Body): MaybePromise<void> {
    const bytes = bodyBytes(body);
    const encoding = this.encodingFor(bytes);
    if (encoding === null) return this.#whole(status, body, bytes);
    return pack(body, encoding).then((packed) => this.sendPacked(status, packed, encoding));
  }

  /** Returns null for a body that is sent uncompressed. */
  encodingFor(bytes: number): Encoding | null {
    if (bytes <= PACK_FROM_BYTES) return null;
    const accepted = String(this.request.headers['accept-encoding'] ?? '');
    if (BROTLI.test(accepted)) return 'br';
    return GZIP.test(accepted) ? 'gzip' : null;
  }

  sendJson(status: number, value: unknown): MaybePromise<void> {
    this.set('content-type', 'application/json; charset=utf-8');
    return this.send(status, JSON.stringify(value));
  }

  /** Sends a body that is already compressed. */
  sendPacked(status: number, bytes: Buffer, encoding: Encoding): void {
    this.set('content-encoding', encoding);
    this.#whole(status, bytes, bytes.length);
  }

  sendNothing(status: number): void {
    this.#response.writeHead(status, this.#headers);
    this.#response.end();
  }

  /** Begins a body that is streamed. The headers are sent with its first bytes. */
  begin(status: number): ServerResponse {
    this.#response.writeHead(status, this.#headers);
    return this.#response;
  }

  #whole(status: number, body: Body, bytes: number): void {
    this.set('content-length', String(bytes));
    this.summary?.sent(bytes);
    this.#response.writeHead(status, this.#headers);
    if (isChunks(body)) {
      this.#response.cork();
      for (const chunk of body) this.#response.write(chunk);
      this.#response.end();
    } else this.#response.end(body);
  }

  /** Destroys a response that has begun, so that its client sees that it is incomplete. Returns false if it has not begun. */
  abort(): boolean {
    if (!this.#response.headersSent) return false;
    this.#response.destroy();
    return true;
  }

  /** Called when the last byte has been sent, or the client has disconnected. */
  #closed(): void {
    const { caller, summary } = this;
    const { headersSent, statusCode, writableFinished } = this.#response;
    this.#connection.arrived();
    this.#connection.underWay -= 1;
    if (!writableFinished) this.#disconnecting.abort();
    if (summary === null) return;
    // Clients end a subscription over SSE by disconnecting.
    if (!writableFinished && summary.type !== 'subscription') summary.worsen('gone');
    this.#settings.accessLog.ended(summary, caller, headersSent ? statusCode : null);
  }

  #failed(error: unknown): void {
    const { requestId, summary } = this;
    summary?.failed('INTERNAL', 'fault');
    this.#settings.log.error({ requestId, err: error }, 'a request failed');
    if (this.abort()) return;
    const errors = [requestError('INTERNAL', 'Something went wrong here.', { requestId })];
    try {
      fireAndForget('response', this.sendJson(500, { errors }));
    } catch {
      this.#response.destroy();
    }
  }
}

/** Answers a client that has sent too much. */
export function refuseFlood(reply: HttpReply): MaybePromise<void> {
  const { errors, headers } = overLimit('messages', FLOOD_RETRY_SECONDS);
  if (reply.request.method === 'POST') markNotSent(errors);
  reply.setAll(headers);
  return reply.sendJson(429, { errors });
}
