import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type ExecutionResult, OperationTypeNode } from 'graphql';
import { ByteCollector } from '../../lib/byte-collector.ts';
import type { Code } from '../../lib/error-codes.ts';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import { parseExactJson } from '../../lib/json.ts';
import { clientOf } from '../../lib/limits/request-caller.ts';
import { COUNTED_BYTES } from '../admission/client-limits.ts';
import type { Operation, TransportContext } from '../admission/operation.ts';
import { overLimit, type Refusal, refusal } from '../core/errors.ts';
import { traceRequest } from '../core/request-summary.ts';
import type { ResultIterator } from '../core/result-iterator.ts';
import type { OpenedOperation } from '../execution/pipeline.ts';
import { isOfUser } from '../requests/tokens.ts';
import type { TransportServices } from '../requests/transport-services.ts';
import { type Accepted, FORMATS, isJsonType, negotiated, type StreamFormat } from './formats.ts';
import type { HttpExchange } from './http-exchange.ts';

const NOT_ACCEPTABLE =
  'Acceptable are application/json, application/graphql-response+json, text/event-stream, and multipart/mixed with subscriptionSpec="1.0", deferSpec=20220824 or incrementalSpec=v0.2.';

/** Answers a request to `/graphql`. Throws a Refusal if nothing is executed. */
export async function answerGraphQL(
  services: TransportServices,
  exchange: HttpExchange,
): Promise<void> {
  const { addresses, connections, openConnections, tracing } = services;
  const { connection, request, summary } = exchange;
  const { pingMs } = connections;
  exchange.isGraphQL = true;
  if (tracing !== null) {
    summary.trace = traceRequest(tracing, request, addresses.isFromProxy(request));
  }
  const accepted = negotiated(request.headers.accept);
  const { operation, start } = await open(services, exchange, accepted);
  const answer = await start();
  if (!(Symbol.asyncIterator in answer)) {
    setCookie(services, exchange, answer, operation);
    await exchange.sendResult(200, answer);
  } else if (operation.prepared.node.operation === OperationTypeNode.SUBSCRIPTION) {
    summary.transport = 'sse';
    summary.eventsBegan(200);
    // A stream of events may last for hours, so a shutdown closes it.
    openConnections.addLongLived(connection, { restart: () => connection.socket.destroy() });
    const format = accepted?.events ?? FORMATS.events;
    await sendStream(exchange, format, pingMs, answer).finally(() => {
      connection.longLived = null;
    });
  } else {
    // The first part is read before the head is sent, because a head may set the cookie.
    const first = await answer.next();
    if (!first.done) setCookie(services, exchange, first.value, operation);
    const format = accepted?.parts ?? FORMATS.deferSpec;
    await sendStream(exchange, format, pingMs, answer, first);
  }
}

/** Reads the request. A separate function, because `answerGraphQL` would retain the body for as long as a subscription lasts. */
async function open(
  { limits, maxBodyBytes, pipeline }: TransportServices,
  exchange: HttpExchange,
  accepted: Accepted | null,
): Promise<OpenedOperation> {
  const { caller, request, summary } = exchange;
  const { method, headers } = request;
  const isPost = method === 'POST';
  const body = isPost ? await bodyOf(request, maxBodyBytes) : null;
  if (isPost && body === null) throw malformed(413, 'PAYLOAD_TOO_LARGE', 'The body is too large.');
  // The request itself is already charged, so only the bytes beyond its first COUNTED_BYTES are charged here.
  const extraBytes = (body?.length ?? 0) - COUNTED_BYTES;
  const isOver = extraBytes >= 0 && !limits.takeMessage(clientOf(caller), extraBytes);
  if (isOver) throw overLimit('messages');
  if (accepted === null) throw malformed(406, 'NOT_ACCEPTABLE', NOT_ACCEPTABLE);
  const { single, events, parts } = accepted;
  exchange.format = single;
  // Over an event stream, parts have the format of `deferSpec`.
  const partsFormat = parts === FORMATS.incrementalSpec ? 'incrementalSpec' : 'deferSpec';
  const transport: TransportContext = {
    summary,
    takesEvents: events !== null,
    partsFormat: parts === null ? null : partsFormat,
    headers,
    responseHeaders: exchange.headers,
  };
  return pipeline.open(caller, transport, sentIn(exchange, body));
}

/** Resolves with null if the body is too large. */
function bodyOf(request: IncomingMessage, maxBytes: number): Promise<Buffer | null> {
  // Browsers let a page of another origin send forms and plain texts without a preflight, so only JSON is accepted.
  const { 'content-type': type, 'content-encoding': encoding = 'identity' } = request.headers;
  if (!isJsonType(type) || encoding !== 'identity') {
    const message = 'Send uncompressed JSON with `Content-Type: application/json`.';
    throw malformed(415, 'GRAPHQL_PARSE_FAILED', message);
  }
  return readBody(request, maxBytes);
}

/** Sets the cookie of an issued token; removes that of a refused token. */
function setCookie(
  { cookie }: TransportServices,
  exchange: HttpExchange,
  { errors = [] }: ExecutionResult,
  { issuedToken }: Operation,
): void {
  const { caller, request } = exchange;
  if (cookie === null) return;
  const value = issuedToken === null ? null : cookie.issued(issuedToken, request);
  if (value !== null) {
    exchange.headers['set-cookie'] = value;
    return;
  }
  const isByCookie = caller.token !== null && !isOfUser(request.headers.authorization);
  const isRefused = errors.some(({ extensions }) => extensions.code === 'UNAUTHENTICATED');
  if (isByCookie && isRefused) exchange.headers['set-cookie'] = cookie.cleared(request);
}

/** The JSON of a body, or the parameters of a GET. */
function sentIn(exchange: HttpExchange, body: Buffer | null): unknown {
  const { method, url = '' } = exchange.request;
  if (body === null && method !== 'GET') {
    exchange.headers.allow = 'GET, POST';
    const message = 'GraphQL only supports GET and POST requests.';
    throw malformed(405, 'GRAPHQL_PARSE_FAILED', message);
  }
  let sent: unknown;
  try {
    sent = body === null ? paramsOf(url) : jsonOf(body);
  } catch {
    const what = body === null ? '`variables` and `extensions` are JSON.' : 'The body is not JSON.';
    throw malformed(400, 'GRAPHQL_PARSE_FAILED', what);
  }
  if (Array.isArray(sent)) {
    const message = 'Batches are not supported: send each operation by itself, with HttpLink.';
    throw malformed(400, 'BATCHING_NOT_SUPPORTED', message);
  }
  return sent;
}

function malformed(status: number, code: Code, message: string): Refusal {
  return refusal(code, message, { status, isWellFormed: false });
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

/**
 * Sends the events of a subscription, or the parts of an answer, until there are no more, or the client disconnects. `first`
 * is a result that has been read already. The next event is read when the client has read enough, so a slow client gets one
 * merged event.
 */
async function sendStream(
  exchange: HttpExchange,
  { contentType, framing }: StreamFormat,
  pingMs: number,
  results: ResultIterator,
  first?: IteratorResult<ExecutionResult>,
): Promise<void> {
  const { summary, disconnected: signal } = exchange;
  exchange.headers['content-type'] = contentType;
  exchange.headers['x-accel-buffering'] = 'no';
  const response = exchange.begin(200);
  const write = (text: string) => {
    if (text === '' || response.destroyed) return;
    summary.bytesOut += Buffer.byteLength(text);
    response.write(text);
  };
  // Some browsers do not pass the response to the page before its first bytes.
  write(framing.begin + framing.ping);
  // Pings keep proxies from closing a quiet connection, and detect a client that has disconnected.
  const pings = setInterval(() => {
    if (!response.writableNeedDrain) write(framing.ping);
  }, pingMs);
  // A quiet feed must not be followed until its next event when the client has disconnected.
  const leave = () => fireAndForget('results', results.return());
  response.once('close', leave);
  // The client may have disconnected before the listener was added.
  if (response.destroyed) leave();
  try {
    for (let next = first ?? (await results.next()); !next.done; next = await results.next()) {
      const sendable = results.unlessFailed(next.value);
      if (sendable === null) continue;
      summary.results += 1;
      write(framing.head + JSON.stringify(sendable) + framing.end);
      // Waits until the client has read enough, or has disconnected.
      if (response.writableNeedDrain) await once(response, 'drain', { signal }).catch(() => {});
    }
  } finally {
    clearInterval(pings);
  }
  write(framing.complete);
  response.end();
}
