import { type ExecutionResult, OperationTypeNode } from 'graphql';
import type { Code } from '../../lib/error-codes.ts';
import { clientOf } from '../../lib/limits/request-caller.ts';
import { chain, type MaybePromise } from '../../lib/maybe-promise.ts';
import { COUNTED_BYTES } from '../admission/client-limits.ts';
import type { Operation, TransportContext } from '../admission/operation.ts';
import type { Subscribed } from '../execution/event-results.ts';
import type { OpenedOperation } from '../execution/pipeline.ts';
import { markNotSent, type Refusal, refused, requestError } from '../operation/errors.ts';
import { traceRequest } from '../operation/request-summary.ts';
import type { ServerSettings } from '../requests/server-settings.ts';
import { type AuthCookie, isOfUser } from '../requests/tokens.ts';
import { jsonOf, paramsOf, takeBody } from './body.ts';
import { EventStream } from './event-stream.ts';
import {
  type Accepted,
  FORMATS,
  type Format,
  isJsonType,
  negotiated,
  type StreamFormat,
} from './formats.ts';
import { type HttpReply, refuseFlood } from './reply.ts';

/** `/graphql` over HTTP: reads a request, executes it and sends the answer. Rejects only with internal errors. */
export function createGraphQLEndpoint(
  settings: ServerSettings,
): (reply: HttpReply) => MaybePromise<void> {
  const { addresses, cookie, graph, maxBodyBytes, messages } = settings;
  const { connections, openConnections, tracing } = settings;
  const { pingMs } = connections;

  function answer(reply: HttpReply, body: Buffer | null): MaybePromise<void> {
    const { method, headers, url = '' } = reply.request;
    reply.connection.arrived();
    // The request itself is already charged, so only the bytes beyond its first COUNTED_BYTES are charged here.
    const extraBytes = (body?.length ?? 0) - COUNTED_BYTES;
    const isOver = extraBytes >= 0 && !messages.take(clientOf(reply.caller), extraBytes);
    if (isOver) return refuseFlood(reply);
    const accepted = negotiated(headers.accept);
    if (accepted === null) return refuse(reply, 406, NOT_ACCEPTABLE);
    const { single, events, parts } = accepted;
    if (body === null && method !== 'GET') {
      reply.set('allow', 'GET, POST');
      return refuse(reply, 405, 'GraphQL only supports GET and POST requests.', single);
    }
    let sent: unknown;
    try {
      sent = body === null ? paramsOf(url) : jsonOf(body);
    } catch {
      return refuse(reply, 400, body === null ? NO_JSON_PARAMETER : NO_JSON, single);
    }
    if (Array.isArray(sent)) return refuse(reply, 400, BATCHED, single, 'BATCHING_NOT_SUPPORTED');
    // Over an event stream, parts have the format of `deferSpec`.
    const partsFormat = parts === FORMATS.incrementalSpec ? 'incrementalSpec' : 'deferSpec';
    const transport: TransportContext = {
      sent,
      record: reply.summary,
      mayMutate: method === 'POST',
      takesEvents: events !== null,
      partsFormat: parts === null ? null : partsFormat,
      headers,
      reportsEnd: undefined,
    };
    return chain<OpenedOperation | Refusal, void>(graph.open(reply.caller, transport), (opened) =>
      opened.kind === 'refusal'
        ? sendRefusal(reply, opened, single)
        : chain(opened.start(), (outcome) => send(reply, opened.operation, outcome, accepted)),
    );
  }

  function send(
    reply: HttpReply,
    operation: Operation,
    outcome: Subscribed,
    { single, events, parts }: Accepted,
  ): MaybePromise<void> {
    reply.setAll(operation.headers);
    if (!(Symbol.asyncIterator in outcome)) {
      if (cookie !== null) setCookie(reply, cookie, outcome, operation);
      return sendAnswer(reply, outcome, single);
    }
    const { live } = operation;
    const checked = (result: ExecutionResult) => (live === null ? result : live.checked(result));
    if (operation.prepared.node.operation === OperationTypeNode.SUBSCRIPTION) {
      return sendEvents(reply, outcome, checked, events);
    }
    return sendParts(reply, operation, outcome, parts ?? FORMATS.deferSpec);
  }

  /** Answers in parts. Reads the first part before the head is sent, because a head may set the cookie. */
  async function sendParts(
    reply: HttpReply,
    operation: Operation,
    results: AsyncIterableIterator<ExecutionResult>,
    format: StreamFormat,
  ): Promise<void> {
    const first = await results.next();
    if (cookie !== null && !first.done) setCookie(reply, cookie, first.value, operation);
    const stream = new EventStream(reply, pingMs, format);
    // A shutdown waits for the last part, as for any answer.
    await stream.send(results, (part) => part, first);
  }

  /** Answers a subscription by an event stream, which may last for hours. */
  async function sendEvents(
    reply: HttpReply,
    results: AsyncIterableIterator<ExecutionResult>,
    checked: (result: ExecutionResult) => ExecutionResult | null,
    format: StreamFormat | null,
  ): Promise<void> {
    const { connection, summary } = reply;
    summary.transport = 'sse';
    summary.started(200);
    const stream = new EventStream(reply, pingMs, format ?? FORMATS.events);
    openConnections.addLongLived(connection, stream);
    await stream.send(results, checked).finally(() => {
      connection.longLived = null;
    });
  }

  function refuse(
    reply: HttpReply,
    status: number,
    message: string,
    format: Format = FORMATS.json,
    code: Code = CODES[status] ?? 'GRAPHQL_PARSE_FAILED',
  ): MaybePromise<void> {
    const errors = [requestError(code, message)];
    if (reply.request.method === 'POST') markNotSent(errors);
    graph.codes.refused(errors, reply.summary);
    return sendRefusal(reply, { ...refused(errors, status), isWellFormed: false }, format);
  }

  return (reply) => {
    const { request } = reply;
    reply.isGraphQL = true;
    if (tracing !== null) {
      reply.summary.trace = traceRequest(tracing, request, addresses.isFromProxy(request));
    }
    if (request.method !== 'POST') return answer(reply, null);
    // Browsers let a page of another origin send forms and plain texts without a preflight, so only JSON is accepted.
    const { 'content-type': type, 'content-encoding': encoding = 'identity' } = request.headers;
    if (!isJsonType(type) || encoding !== 'identity') {
      return refuse(reply, 415, 'Send uncompressed JSON with `Content-Type: application/json`.');
    }
    const answerBody = (body: Buffer | null) =>
      body === null ? refuse(reply, 413, 'The body is too large.') : answer(reply, body);
    return takeBody(request, maxBodyBytes, (body) => reply.guard(() => answerBody(body)));
  };
}

/** Sets the cookie of an issued token; removes that of a refused token. */
function setCookie(
  reply: HttpReply,
  cookie: AuthCookie,
  outcome: ExecutionResult,
  operation: Operation,
): void {
  const { request, caller } = reply;
  const { issuedToken } = operation;
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

const CODES: Readonly<Record<number, Code>> = { 406: 'NOT_ACCEPTABLE', 413: 'PAYLOAD_TOO_LARGE' };
const NOT_ACCEPTABLE =
  'Acceptable are application/json, application/graphql-response+json, text/event-stream, and multipart/mixed with subscriptionSpec="1.0", deferSpec=20220824 or incrementalSpec=v0.2.';
const NO_JSON = 'The body is not JSON.';
const NO_JSON_PARAMETER = '`variables` and `extensions` are JSON.';
const BATCHED = 'Batches are not supported: send each operation by itself, with HttpLink.';

/** Answers a refused request with the status that GraphQL over HTTP gives it. */
export function sendRefusal(
  reply: HttpReply,
  { status, headers, isWellFormed, errors }: Refusal,
  format: Format,
): MaybePromise<void> {
  reply.setAll(headers);
  const text = JSON.stringify({ errors });
  // If only the document or its variables are wrong, older clients, which do not accept `application/graphql-response+json`,
  // read the errors from a 200 alone.
  const needs200 = isWellFormed && status === 400 && format !== FORMATS.response;
  return sendResult(reply, needs200 ? 200 : status, text, format);
}

export function sendAnswer(
  reply: HttpReply,
  result: ExecutionResult,
  format: Format,
): MaybePromise<void> {
  return sendResult(reply, 200, JSON.stringify(result), format);
}

function sendResult(
  reply: HttpReply,
  status: number,
  result: string,
  format: Format,
): MaybePromise<void> {
  reply.set('content-type', format.contentType);
  if (format.framing === null) return reply.send(status, result);
  // The log and the metrics call each streamed answer `sse`, also if its format is multipart.
  reply.summary.transport = 'sse';
  const { begin, head, end, complete } = format.framing;
  return reply.send(status, begin + head + result + end + complete);
}
