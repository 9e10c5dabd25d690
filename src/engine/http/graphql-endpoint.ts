import type { IncomingMessage } from 'node:http';
import { type ExecutionResult, OperationTypeNode } from 'graphql';
import { ByteCollector } from '../../lib/byte-collector.ts';
import type { Code } from '../../lib/error-codes.ts';
import { parseExactJson } from '../../lib/json.ts';
import { clientOf } from '../../lib/limits/request-caller.ts';
import { COUNTED_BYTES } from '../admission/client-limits.ts';
import type { Operation, TransportContext } from '../admission/operation.ts';
import type { OpenedOperation } from '../execution/pipeline.ts';
import { Refusal, requestError } from '../operation/errors.ts';
import { traceRequest } from '../operation/request-summary.ts';
import type { ServerSettings } from '../requests/server-settings.ts';
import { isOfUser } from '../requests/tokens.ts';
import { EventStream } from './event-stream.ts';
import { type Accepted, FORMATS, isJsonType, negotiated, type StreamFormat } from './formats.ts';
import { type HttpReply, tooManyMessages } from './reply.ts';

const NOT_ACCEPTABLE =
  'Acceptable are application/json, application/graphql-response+json, text/event-stream, and multipart/mixed with subscriptionSpec="1.0", deferSpec=20220824 or incrementalSpec=v0.2.';

/** `/graphql` over HTTP: reads a request, executes it and sends the answer. */
export class GraphQLEndpoint {
  readonly #settings: ServerSettings;

  constructor(settings: ServerSettings) {
    this.#settings = settings;
  }

  /** Throws a Refusal if nothing is executed. */
  async answer(reply: HttpReply): Promise<void> {
    const { addresses, tracing } = this.#settings;
    const { request, summary } = reply;
    reply.isGraphQL = true;
    if (tracing !== null) {
      summary.trace = traceRequest(tracing, request, addresses.isFromProxy(request));
    }
    const accepted = negotiated(request.headers.accept);
    const { operation, start } = await this.#open(reply, accepted);
    const outcome = await start();
    if (!(Symbol.asyncIterator in outcome)) {
      this.#setCookie(reply, outcome, operation);
      await reply.sendResult(200, outcome);
    } else if (operation.prepared.node.operation === OperationTypeNode.SUBSCRIPTION) {
      await this.#sendEvents(reply, operation, outcome, accepted?.events ?? FORMATS.events);
    } else {
      await this.#sendParts(reply, operation, outcome, accepted?.parts ?? FORMATS.deferSpec);
    }
  }

  /** Reads the request. It does so apart from `answer`, which would retain the body for as long as a subscription lasts. */
  async #open(reply: HttpReply, accepted: Accepted | null): Promise<OpenedOperation> {
    const { limits, pipeline } = this.#settings;
    const { request, summary } = reply;
    const { method, headers } = request;
    const isPost = method === 'POST';
    const body = isPost ? await this.#bodyOf(request) : null;
    if (isPost && body === null) throw refusal(413, 'PAYLOAD_TOO_LARGE', 'The body is too large.');
    // The request itself is already charged, so only the bytes beyond its first COUNTED_BYTES are charged here.
    const extraBytes = (body?.length ?? 0) - COUNTED_BYTES;
    const isOver = extraBytes >= 0 && !limits.takeMessage(clientOf(reply.caller), extraBytes);
    if (isOver) throw tooManyMessages();
    if (accepted === null) throw refusal(406, 'NOT_ACCEPTABLE', NOT_ACCEPTABLE);
    const { single, events, parts } = accepted;
    reply.format = single;
    // Over an event stream, parts have the format of `deferSpec`.
    const partsFormat = parts === FORMATS.incrementalSpec ? 'incrementalSpec' : 'deferSpec';
    const transport: TransportContext = {
      summary,
      takesEvents: events !== null,
      partsFormat: parts === null ? null : partsFormat,
      headers,
      setHeaders: (ofClient) => reply.setAll(ofClient),
    };
    return pipeline.open(reply.caller, transport, sentIn(reply, body));
  }

  /** Resolves with null if the body is too large. */
  #bodyOf(request: IncomingMessage): Promise<Buffer | null> {
    // Browsers let a page of another origin send forms and plain texts without a preflight, so only JSON is accepted.
    const { 'content-type': type, 'content-encoding': encoding = 'identity' } = request.headers;
    if (!isJsonType(type) || encoding !== 'identity') {
      const message = 'Send uncompressed JSON with `Content-Type: application/json`.';
      throw refusal(415, 'GRAPHQL_PARSE_FAILED', message);
    }
    return readBody(request, this.#settings.maxBodyBytes);
  }

  /** Answers in parts. Reads the first part before the head is sent, because a head may set the cookie. */
  async #sendParts(
    reply: HttpReply,
    operation: Operation,
    results: AsyncIterableIterator<ExecutionResult>,
    format: StreamFormat,
  ): Promise<void> {
    const first = await results.next();
    if (!first.done) this.#setCookie(reply, first.value, operation);
    const stream = new EventStream(reply, this.#settings.connections.pingMs, format);
    // A shutdown waits for the last part, as for any answer.
    await stream.send(results, operation, first);
  }

  /** Answers a subscription by an event stream, which may last for hours. */
  async #sendEvents(
    reply: HttpReply,
    operation: Operation,
    results: AsyncIterableIterator<ExecutionResult>,
    format: StreamFormat,
  ): Promise<void> {
    const { connections, openConnections } = this.#settings;
    const { connection, summary } = reply;
    summary.transport = 'sse';
    summary.started(200);
    const stream = new EventStream(reply, connections.pingMs, format);
    openConnections.addLongLived(connection, stream);
    await stream.send(results, operation).finally(() => {
      connection.longLived = null;
    });
  }

  /** Sets the cookie of an issued token; removes that of a refused token. */
  #setCookie(reply: HttpReply, outcome: ExecutionResult, { issuedToken }: Operation): void {
    const { cookie } = this.#settings;
    const { request, caller } = reply;
    if (cookie === null) return;
    const value = issuedToken === null ? null : cookie.issued(issuedToken, request);
    if (value !== null) {
      reply.set('set-cookie', value);
      return;
    }
    const isByCookie = caller.token !== null && !isOfUser(request.headers.authorization);
    if (!isByCookie) return;
    const isRefused = outcome.errors?.some((error) => error.extensions.code === 'UNAUTHENTICATED');
    if (isRefused) reply.set('set-cookie', cookie.cleared(request));
  }
}

/** The JSON of a body, or the parameters of a GET. */
function sentIn(reply: HttpReply, body: Buffer | null): unknown {
  const { method, url = '' } = reply.request;
  if (body === null && method !== 'GET') {
    reply.set('allow', 'GET, POST');
    const message = 'GraphQL only supports GET and POST requests.';
    throw refusal(405, 'GRAPHQL_PARSE_FAILED', message);
  }
  let sent: unknown;
  try {
    sent = body === null ? paramsOf(url) : jsonOf(body);
  } catch {
    const what = body === null ? '`variables` and `extensions` are JSON.' : 'The body is not JSON.';
    throw refusal(400, 'GRAPHQL_PARSE_FAILED', what);
  }
  if (Array.isArray(sent)) {
    const message = 'Batches are not supported: send each operation by itself, with HttpLink.';
    throw refusal(400, 'BATCHING_NOT_SUPPORTED', message);
  }
  return sent;
}

function refusal(status: number, code: Code, message: string): Refusal {
  return new Refusal([requestError(code, message)], { status, isWellFormed: false });
}

/** Resolves with the whole body, or with null if it is too large. Does not resolve if the connection closes before. */
function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | null> {
  const { promise, resolve } = Promise.withResolvers<Buffer | null>();
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
    resolve(null);
    return promise;
  }
  const collector = new ByteCollector(maxBytes);
  request.on('data', (piece: Buffer) => {
    if (!collector.add(piece)) resolve(null);
  });
  request.on('end', () => {
    // Node parses what it has read to the end, even from a destroyed socket.
    if (!request.socket.destroyed) resolve(collector.take());
  });
  // An early read makes Node pass the body on as it is parsed, without a list of its pieces.
  request.read(0);
  return promise;
}

/** The parameters in the body of a POST. Throws if the body is not JSON. */
function jsonOf(body: Buffer): unknown {
  // Some clients begin the body with U+FEFF, which JSON does not allow.
  return parseExactJson(body.toString().replace(/^\ufeff/, ''));
}

/** The parameters of a GET. Throws if one of them is not JSON. */
function paramsOf(url: string): Record<string, unknown> {
  const start = url.indexOf('?');
  const query = new URLSearchParams(start < 0 ? '' : url.slice(start + 1));
  const params: Record<string, unknown> = {};
  for (const name of ['query', 'operationName', 'documentId']) {
    const value = query.get(name);
    if (value) params[name] = value;
  }
  for (const name of ['variables', 'extensions']) {
    const value = query.get(name);
    if (value) params[name] = parseExactJson(value);
  }
  return params;
}
