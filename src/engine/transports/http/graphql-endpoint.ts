import { type ExecutionResult, OperationTypeNode } from 'graphql';
import type { Code } from '../../../lib/error-codes.ts';
import { clientOf } from '../../../lib/limits/caller.ts';
import { chain, type MaybePromise } from '../../../lib/maybe-promise.ts';
import type { Operation } from '../../admission/operation.ts';
import { isRefusal, markNotSent, refused } from '../../operation/refusal.ts';
import { requestError } from '../../operation/request-error.ts';
import { RequestSummary } from '../../operation/request-summary.ts';
import { traceRequest } from '../../operation/request-trace.ts';
import type { OperationEvents } from '../../operation/result-sink.ts';
import type { TransportContext } from '../../operation/transport-context.ts';
import type { Answer } from '../../pipeline/pipeline.ts';
import { COUNTED_BYTES } from '../connections/message-budget.ts';
import type { AuthCookie } from '../requests/auth-cookie.ts';
import { isOfUser } from '../requests/bearer.ts';
import { clientIn } from '../requests/client-names.ts';
import type { ServerSettings } from '../requests/server-settings.ts';
import { type BodyFault, takeBody } from './body.ts';
import { EventStream } from './event-stream.ts';
import { FORMATS, type Format, type StreamFormat } from './formats.ts';
import { type Accepted, isJsonType, negotiated } from './negotiation.ts';
import { jsonOf, paramsOf } from './params.ts';
import { type HttpReply, refuseFlood } from './reply.ts';
import { sendAnswer, sendRefusal } from './send-result.ts';

/** `/graphql` over HTTP: reads a request, executes it and sends the answer. Rejects only with internal errors. */
export function createGraphQLEndpoint(
  settings: ServerSettings,
): (reply: HttpReply) => MaybePromise<void> {
  const { addresses, cookie, graph, maxBodyBytes, messages } = settings;
  const { connections, forwarding, openConnections, tracing } = settings;
  const { pingMs } = connections;
  // With other forwarded headers the refused token may be valid.
  const clearsCookie = forwarding.names.length === 0;

  function answer(
    reply: HttpReply,
    summary: RequestSummary,
    body: Buffer | null,
  ): MaybePromise<void> {
    const { method, headers, socket, url = '' } = reply.request;
    openConnections.of(socket).arrived();
    // The request is already counted. The unpacked size counts, because few bytes on the wire can hold the largest body.
    const more = (body?.length ?? 0) - COUNTED_BYTES;
    if (more >= 0 && !messages.take(clientOf(reply.caller), more)) return refuseFlood(reply);
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
    const transport: TransportContext = {
      sent,
      record: summary,
      mayMutate: method === 'POST',
      takesEvents: events !== null,
      partsFormat: parts && (parts === FORMATS.incrementalSpec ? 'incrementalSpec' : 'deferSpec'),
      takesBytes: true,
      headers,
      reportsEnd: undefined,
    };
    return chain(graph.answer(reply.caller, transport), (answer) => send(reply, answer, accepted));
  }

  function send(
    reply: HttpReply,
    { operation, outcome }: Answer,
    { single, events, parts }: Accepted,
  ): MaybePromise<void> {
    if (operation !== null) reply.setAll(operation.headers);
    if (cookie !== null)
      setCookie(reply, cookie, outcome as ExecutionResult, operation, clearsCookie);
    if (isRefusal(outcome)) return sendRefusal(reply, outcome, single);
    if (operation === null || operation.events === null) {
      return sendAnswer(reply, outcome as ExecutionResult, operation, single);
    }
    if (operation.prepared.node.operation === OperationTypeNode.SUBSCRIPTION) {
      return sendEvents(reply, operation.events, events);
    }
    const summary = reply.summary as RequestSummary;
    const stream = new EventStream(reply, summary, pingMs, parts ?? FORMATS.deferSpec);
    // A shutdown waits for the last part, as for any answer.
    return stream.carry(operation.events);
  }

  /** Answers a subscription by an event stream, which may last for hours. */
  async function sendEvents(
    reply: HttpReply,
    followed: OperationEvents,
    format: StreamFormat | null,
  ): Promise<void> {
    const summary = reply.summary as RequestSummary;
    summary.transport = 'sse';
    summary.started(200);
    const stream = new EventStream(reply, summary, pingMs, format ?? FORMATS.events);
    const { socket } = reply.request;
    openConnections.lasts(socket, stream);
    await stream.carry(followed).finally(() => {
      openConnections.of(socket).longLived = null;
    });
  }

  /** Answers a request that is refused before there is an operation. */
  function refuse(
    reply: HttpReply,
    status: number,
    message: string,
    format: Format = FORMATS.json,
    code: Code = CODES[status] ?? 'GRAPHQL_PARSE_FAILED',
  ): MaybePromise<void> {
    const errors = [requestError(code, message)];
    if (reply.request.method === 'POST') markNotSent(errors);
    graph.codes.refused(errors, reply.summary as RequestSummary);
    return sendRefusal(reply, { ...refused(errors, status), isWellFormed: false }, format);
  }

  return (reply) => {
    const { request, requestId } = reply;
    const { method = '', headers } = request;
    const summary = new RequestSummary({
      requestId,
      transport: 'http',
      method,
      client: clientIn(headers),
      trace: tracing && traceRequest(tracing, request, addresses.isFromProxy(request)),
    });
    reply.summary = summary;
    if (method !== 'POST') return answer(reply, summary, null);
    // A page of another origin may send forms and plain texts without a preflight.
    if (!isJsonType(headers['content-type'])) {
      return refuse(reply, 415, 'Send JSON with `Content-Type: application/json`.');
    }
    const taken = (body: Buffer | BodyFault) => {
      if (body === 'unreadable') return refuse(reply, 400, 'The body cannot be read.');
      if (body === 'too large') return refuse(reply, 413, 'The body is too large.');
      return answer(reply, summary, body);
    };
    return takeBody(request, maxBodyBytes, (body) => reply.guard(() => taken(body)));
  };
}

/** Sets the cookie of an issued token. `clears`: whether a refused token's cookie is removed. */
function setCookie(
  reply: HttpReply,
  cookie: AuthCookie,
  outcome: ExecutionResult,
  operation: Operation | null,
  clears: boolean,
): void {
  const { request, caller } = reply;
  const issued = operation?.issuedToken ?? null;
  const value = issued === null ? null : cookie.issued(issued, request);
  if (value !== null) reply.set('set-cookie', value);
  else if (clears && caller.token !== null && !isOfUser(request.headers.authorization)) {
    const isRefused = outcome.errors?.some(
      ({ extensions }) => extensions.code === cookie.refusedBy,
    );
    if (isRefused) reply.set('set-cookie', cookie.cleared(request));
  }
}

const CODES: Readonly<Record<number, Code>> = {
  406: 'NOT_ACCEPTABLE',
  413: 'PAYLOAD_TOO_LARGE',
};
const NOT_ACCEPTABLE =
  'Acceptable are application/json, application/graphql-response+json, text/event-stream, and multipart/mixed with subscriptionSpec="1.0", deferSpec=20220824 or incrementalSpec=v0.2.';
const NO_JSON = 'The body is not JSON.';
const NO_JSON_PARAMETER = '`variables` and `extensions` are JSON.';
const BATCHED = 'Batches are not supported: send each operation by itself, with HttpLink.';
