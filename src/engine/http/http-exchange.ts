import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ExecutionResult } from 'graphql';
import type { RequestCaller } from '../../lib/limits/request-caller.ts';
import { chain, type MaybePromise } from '../../lib/maybe-promise.ts';
import { type Body, type Encoding, PACK_FROM_BYTES, pack } from '../../lib/pack.ts';
import type { Refusal } from '../core/errors.ts';
import { namingIn, RequestSummary } from '../core/request-summary.ts';
import type { Connection } from '../requests/open-connections.ts';
import { tokenOf } from '../requests/tokens.ts';
import type { TransportServices } from '../requests/transport-services.ts';
import { FORMATS, type Format } from './formats.ts';

// Each matches the name of an encoding in `Accept-Encoding` without a weight (`;q=`), or with a weight above 0.
const BROTLI = /(?:^|,)\s*br\s*(?:,|$|;\s*q=(?:[1-9]|0?\.\d*[1-9]))/i;
const GZIP = /(?:^|,)\s*gzip\s*(?:,|$|;\s*q=(?:[1-9]|0?\.\d*[1-9]))/i;

/** Node writes a text faster than bytes. A longer text would take much of the heap until its client has read it. */
const MAX_TEXT_BYTES = 65_536;

const SAFE_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** A request over HTTP: its caller, its summary and its response. */
export class HttpExchange {
  readonly request: IncomingMessage;
  readonly connection: Connection;
  readonly caller: RequestCaller;
  readonly summary: RequestSummary;
  /** Whether the request is counted and logged. */
  isGraphQL = false;
  /** The format of the result. */
  format: Format = FORMATS.json;
  /** Node writes one object of headers faster than headers that are set one by one. */
  readonly headers: Record<string, string>;
  /** Aborts when the client has disconnected, to stop the work for it. */
  readonly disconnected: AbortSignal;
  readonly #disconnecting = new AbortController();
  readonly #response: ServerResponse;
  readonly #services: TransportServices;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    connection: Connection,
    services: TransportServices,
  ) {
    const { addresses, cookie, forwarding, tokenStatusOf } = services;
    const { method = '', headers } = request;
    const forwarded = forwarding.forwarded(headers);
    const token = tokenOf(request, connection, cookie, forwarded?.digest);
    this.disconnected = this.#disconnecting.signal;
    this.request = request;
    this.connection = connection;
    const naming = namingIn((name) => headers[name]);
    this.summary = new RequestSummary(headers['x-request-id'], method, naming);
    const { requestId } = this.summary;
    this.caller = {
      token,
      tokenStatus: tokenStatusOf(token),
      sender: addresses.senderOf(request),
      forwarded,
      signal: this.disconnected,
      requestId,
    };
    this.#response = response;
    this.#services = services;
    this.headers = { ...SAFE_HEADERS, 'x-request-id': requestId };
    response.on('close', () => this.#closed());
  }

  /** Runs a task. Sends an error response if it throws or rejects. */
  async guard(task: () => MaybePromise<void>): Promise<void> {
    try {
      await task();
    } catch (error) {
      const refusal = this.#services.masking.refusal(error, this.summary);
      if (!this.abort()) await this.#refuse(refusal);
    }
  }

  /** Sends a whole body, compressed as the client accepts. `packed` returns the compressed body if that is cached. */
  send(
    status: number,
    body: Body,
    packed: (encoding: Encoding) => MaybePromise<Buffer> = (encoding) => pack(body, encoding),
  ): MaybePromise<void> {
    const bytes = Buffer.byteLength(body);
    const encoding = bytes > PACK_FROM_BYTES ? encodingIn(this.request) : null;
    if (encoding === null) return this.#sendWhole(status, body, bytes);
    return chain(packed(encoding), (compressed) => {
      this.headers['content-encoding'] = encoding;
      this.#sendWhole(status, compressed, compressed.length);
    });
  }

  sendJson(status: number, value: unknown): MaybePromise<void> {
    this.headers['content-type'] = FORMATS.json.contentType;
    return this.send(status, JSON.stringify(value));
  }

  sendNotFound(): MaybePromise<void> {
    return this.sendJson(404, { error: 'not found' });
  }

  /** Sends a result of GraphQL in the format that the client accepts. */
  sendResult(status: number, result: ExecutionResult): MaybePromise<void> {
    const { contentType, framing } = this.format;
    const text = JSON.stringify(result);
    this.headers['content-type'] = contentType;
    if (framing === null) return this.send(status, text);
    // The log and the metrics call each streamed answer `sse`, also if its format is multipart.
    this.summary.transport = 'sse';
    const { begin, head, end, complete } = framing;
    return this.send(status, begin + head + text + end + complete);
  }

  #refuse({ errors, status, headers, isWellFormed }: Refusal): MaybePromise<void> {
    Object.assign(this.headers, headers);
    // If only the document or its variables are wrong, older clients, which do not accept
    // `application/graphql-response+json`, read the errors from a 200 alone.
    const needs200 = isWellFormed && status === 400 && this.format !== FORMATS.response;
    return this.sendResult(needs200 ? 200 : status, { errors });
  }

  sendNothing(status: number): void {
    this.begin(status).end();
  }

  /** Begins a body that is streamed. The headers are sent with its first bytes. */
  begin(status: number): ServerResponse {
    if (this.#isDraining) this.headers.connection = 'close';
    this.headers.date = new Date(this.#services.dateMs()).toUTCString();
    return this.#response.writeHead(status, this.headers);
  }

  get #isDraining(): boolean {
    return this.#services.readiness.phase === 'draining';
  }

  #sendWhole(status: number, body: Body, bytes: number): void {
    this.headers['content-length'] = String(bytes);
    this.summary.sent(bytes);
    // Unread bytes wait outside of the heap.
    const isLarge = typeof body === 'string' && bytes > MAX_TEXT_BYTES;
    this.begin(status).end(isLarge ? Buffer.from(body) : body);
  }

  /** Destroys a response that has begun, so that the client sees that it is incomplete. Returns false if none has begun. */
  abort(): boolean {
    if (!this.#response.headersSent) return false;
    this.#response.destroy();
    return true;
  }

  /** Called when the last byte has been sent, or the client has disconnected. */
  #closed(): void {
    const { caller, summary } = this;
    const { headersSent, statusCode, writableFinished } = this.#response;
    this.connection.markWhole();
    this.connection.underWay -= 1;
    // The answer may have begun before the drain, without `connection: close`. Pipelined requests are answered first.
    if (this.#isDraining && this.connection.underWay === 0) this.request.socket.destroySoon();
    if (!writableFinished) this.#disconnecting.abort();
    if (!this.isGraphQL) return;
    // Clients end a subscription over SSE by disconnecting.
    if (!writableFinished && summary.type !== 'subscription') summary.worsen('gone');
    this.#services.accessLog.ended(summary, caller, headersSent ? statusCode : null);
  }
}

/** The encoding of a compressed body; null if the client accepts none. */
function encodingIn({ headers }: IncomingMessage): Encoding | null {
  const accepted = String(headers['accept-encoding'] ?? '');
  if (BROTLI.test(accepted)) return 'br';
  return GZIP.test(accepted) ? 'gzip' : null;
}
