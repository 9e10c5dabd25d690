import type { ExecutionResult } from 'graphql';
import type { Caller } from '../../gateway/caller.ts';
import type { EnvelopedOperation } from '../../graph.ts';
import type { GraphContext } from '../../graph-context.ts';
import { after, type Eventually } from '../../lib/eventually.ts';
import { OF_REQUEST, type Refusal } from '../../plugins/refusal.ts';
import type { Code } from '../../schema/error-codes.ts';
import { requestError } from '../../schema/public-error.ts';
import type { RequestSummary } from '../request/request-summary.ts';
import { forwardedFrom, requestTrace } from '../request/request-trace.ts';
import type { ServerSettings } from '../settings.ts';
import { type BodyError, takeBody } from './body.ts';
import { readOrdinary, sendAnswer, sendRefusal } from './direct-path.ts';
import type { EventStreams } from './event-streams.ts';
import { toFetchRequest } from './fetch-request.ts';
import {
  type Accepted,
  EVENT_STREAM,
  isJsonType,
  Negotiation,
  PLAIN_JSON,
  RESPONSE_JSON,
} from './negotiation.ts';
import type { Reply } from './reply.ts';
import { answerSubscription } from './subscription.ts';
import type { YogaAnswer, YogaHandler } from './yoga.ts';

export interface EndpointSettings extends ServerSettings {
  /** Whether ordinary requests are answered without yoga. */
  readonly directPath: boolean;
  readonly yoga: () => Promise<YogaHandler>;
  /** The interval of the comments that keep a quiet event stream open. */
  readonly pingMs: number;
  /** Called for each request that yoga answers. */
  readonly onGeneralPath: () => void;
}

/** May answer asynchronously; what it throws or rejects with is an internal error. */
export type GraphQLEndpoint = (reply: Reply) => Eventually<void>;

/** `/graphql` over HTTP: reads the request, lets the graph, or yoga, answer it, sends the answer. */
export function createGraphQLEndpoint(
  settings: EndpointSettings,
  streams: EventStreams,
): GraphQLEndpoint {
  const { graph, addresses, buffers, maxBodyBytes, directPath, yoga, pingMs, onGeneralPath } =
    settings;
  const { accessLog, clientNames, received, tokens, tracing } = settings;
  const negotiation = new Negotiation();

  function summaryOf({ request, requestId }: Reply): RequestSummary {
    const { method = '', headers, url = '' } = request;
    return accessLog.begin({
      requestId,
      transport: 'http',
      method,
      client: clientNames.fromHeaders(headers),
      bytesIn: url.length,
    });
  }

  function answer(reply: Reply, body: Buffer | null, summary: RequestSummary): Eventually<void> {
    const { request, requestId } = reply;
    if (body !== null) summary.bytesIn = body.length;
    const caller: Caller = {
      token: tokens.of(request),
      signal: reply.disconnected,
      client: {
        address: addresses.of(request),
        userAgent: request.headers['user-agent'] ?? null,
      },
      requestId,
      trace: tracing === null ? forwardedFrom(request, addresses) : undefined,
    };
    reply.caller = caller;
    return buffers.hasRoom(caller)
      ? answerRequest(reply, body, summary)
      : reply.whenRoom(() => answerRequest(reply, body, summary));
  }

  function answerRequest(
    reply: Reply,
    body: Buffer | null,
    summary: RequestSummary,
  ): Eventually<void> {
    const { request } = reply;
    const accepted = negotiation.of(request.headers.accept);
    if (accepted === null) return refuse(reply, 406, 'The answer is JSON, or an event stream.');
    const ordinary = directPath ? readOrdinary(request, body) : null;
    if (ordinary !== null && 'fault' in ordinary)
      return refuseBody(reply, ordinary.fault, accepted);
    const context = contextOf(reply, body, summary, { sent: ordinary?.sent ?? null, accepted });
    if (ordinary === null) return answerByYoga(reply, context, accepted);
    return after(graph.open(context), (opened) => answerDirectly(reply, context, opened, accepted));
  }

  function contextOf(
    reply: Reply,
    body: Buffer | null,
    summary: RequestSummary,
    { sent, accepted }: { readonly sent: unknown; readonly accepted: Accepted },
  ): GraphContext {
    const { request, requestId, trace } = reply;
    const isCacheable = request.method === 'GET' && accepted.single !== EVENT_STREAM;
    return graph.context(reply.caller, {
      sent,
      requestId,
      record: summary,
      mayMutate: request.method === 'POST',
      takesEvents: accepted.takesEvents,
      requestTrace: trace,
      takesBytes: true,
      ifNoneMatch: isCacheable ? request.headers['if-none-match'] : undefined,
      reportsEnd: undefined,
      // The result of an event stream has the status of plain JSON.
      toRequest: () =>
        toFetchRequest(
          request,
          body,
          accepted.single === RESPONSE_JSON ? RESPONSE_JSON : PLAIN_JSON,
        ),
    });
  }

  function answerDirectly(
    reply: Reply,
    context: GraphContext,
    opened: EnvelopedOperation | Refusal,
    accepted: Accepted,
  ): Eventually<void> {
    reply.setAll(context.operation.headers);
    if ('errors' in opened) return sendRefusal(reply, opened, accepted.single);
    const result = opened.type === 'subscription' ? opened.subscribe() : opened.execute();
    return after(result, (settled) => sendOutcome(reply, settled, context, accepted));
  }

  function sendOutcome(
    reply: Reply,
    outcome: object,
    { operation }: GraphContext,
    { single }: Accepted,
  ): Eventually<void> {
    if ('isWellFormed' in outcome) return sendRefusal(reply, outcome as Refusal, single);
    const { summary } = reply;
    const { events } = operation;
    if (events === null || summary === null) {
      return sendAnswer(reply, outcome as ExecutionResult, operation, single);
    }
    return answerSubscription(reply, events, {
      summary,
      streams,
      pingMs,
      subscribed: () => accessLog.subscribed(summary, reply.caller),
      outcome: outcome as AsyncIterable<never>,
    });
  }

  async function answerByYoga(
    reply: Reply,
    context: GraphContext,
    accepted: Accepted,
  ): Promise<void> {
    onGeneralPath();
    const { response, outcome } = await (await yoga())(context).catch(byHooks(context));
    const { operation } = context;
    reply.setAll(operation.headers);
    for (const [name, value] of response.headers) if (!OURS.has(name)) reply.set(name, value);
    if (outcome !== undefined) return sendOutcome(reply, outcome, context, accepted);
    // A response of a plugin's own has no events in it.
    await operation.events?.leave();
    reply.set('content-type', response.headers.get('content-type') ?? PLAIN_JSON);
    return reply.send(response.status, Buffer.from(await response.arrayBuffer()));
  }

  /** Answers where a hook failed that yoga does not guard. */
  function byHooks(context: GraphContext) {
    return (error: unknown): YogaAnswer => ({
      response: new Response(null),
      outcome: graph.pluginErrors.failed(context.operation, error, OF_REQUEST),
    });
  }

  /** Answers a request that is refused before there is an operation. */
  function refuse(
    reply: Reply,
    status: number,
    message: string,
    code: Code = 'GRAPHQL_PARSE_FAILED',
  ): Eventually<void> {
    const error = requestError(code, message);
    if (reply.summary !== null) graph.refused([error], reply.summary);
    return reply.sendJson(status, { errors: [error] });
  }

  function refuseBody(reply: Reply, fault: string, { single }: Accepted): Eventually<void> {
    const errors = [requestError('GRAPHQL_PARSE_FAILED', fault)];
    if (reply.summary !== null) graph.refused(errors, reply.summary);
    return sendRefusal(reply, { status: 400, headers: {}, isWellFormed: false, errors }, single);
  }

  function refuseUntaken({ fault }: BodyError, reply: Reply): Eventually<void> {
    if (fault === 'unreadable') return refuse(reply, 400, 'The body cannot be read.');
    if (fault === 'too large')
      return refuse(reply, 413, 'The body is too large.', 'PAYLOAD_TOO_LARGE');
    received.stop(received.of(reply.request.socket), 'pieces');
    reply.set('connection', 'close');
    return refuse(reply, 413, 'The body comes in too many pieces.', 'PAYLOAD_TOO_LARGE');
  }

  return (reply) => {
    const { request } = reply;
    if (tracing !== null) reply.trace = requestTrace(tracing, request, addresses);
    const summary = summaryOf(reply);
    reply.summary = summary;
    summary.trace = reply.trace;
    if (request.method !== 'POST') return answer(reply, null, summary);
    // Forms and plain texts may be sent by a page of another origin without a preflight.
    if (!isJsonType(request.headers['content-type'])) {
      return refuse(reply, 415, 'The body is JSON, and its type says so.');
    }
    return takeBody(request, {
      maxBytes: maxBodyBytes,
      received: received.of(request.socket),
      taken: (body) => reply.guard(() => answer(reply, body, summary)),
      failed: (error) => reply.guard(() => refuseUntaken(error, reply)),
    });
  };
}

// These are set when the bytes are sent.
const OURS = new Set([
  'content-type',
  'content-length',
  'content-encoding',
  'transfer-encoding',
  'connection',
]);
