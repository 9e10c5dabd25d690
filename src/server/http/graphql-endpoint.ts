import type { ExecutionResult } from 'graphql';
import type { Caller } from '../../gateway/caller.ts';
import type { EnvelopedOperation } from '../../graph.ts';
import type { GraphContext } from '../../graph-context.ts';
import { after, type Eventually } from '../../lib/eventually.ts';
import { onFirstUse } from '../../lib/on-first-use.ts';
import type { Refusal } from '../../plugins/refusal.ts';
import { CachedResult } from '../../plugins/response-cache/response-cache.ts';
import { WrittenResult } from '../../plugins/results/json-text.ts';
import type { Code } from '../../schema/error-codes.ts';
import { requestError } from '../../schema/public-error.ts';
import type { RequestSummary } from '../request/request-summary.ts';
import { forwardedFrom, requestTrace } from '../request/request-trace.ts';
import type { ServerSettings } from '../settings.ts';
import { PayloadTooLargeError, TooManyPiecesError, takeBody, UnreadableBodyError } from './body.ts';
import { readOrdinary, sendAnswer, sendRefusal, sendResult } from './direct-path.ts';
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
import type { YogaHandler } from './yoga.ts';

export interface EndpointSettings extends ServerSettings {
  /** Whether ordinary requests are answered without yoga. */
  readonly directPath: boolean;
  /** The interval of the comments that keep a quiet event stream open. */
  readonly pingMs: number;
  /** Called for each request that yoga answers. */
  readonly onGeneralPath: () => void;
}

/** The sender of a request, and the notes about it. */
interface Origin {
  readonly caller: Caller;
  readonly summary: RequestSummary;
}

/** May answer asynchronously; what it throws or rejects with is an internal error. */
export type GraphQLEndpoint = (reply: Reply) => Eventually<void>;

/** `/graphql` over HTTP: reads the request, lets the graph, or yoga, answer it, sends the answer. */
export function createGraphQLEndpoint(
  settings: EndpointSettings,
  streams: EventStreams,
): GraphQLEndpoint {
  const { graph, addresses, buffers, maxBodyBytes, directPath, pingMs, onGeneralPath } = settings;
  const { accessLog, clientNames, received, tokens, tracing } = settings;
  const yoga = onFirstUse(() => loadYoga(settings));
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
    const hashed = tokens.of(request);
    const caller: Caller = {
      token: hashed?.token ?? null,
      hashed,
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
      ? answerRequest(reply, body, { caller, summary })
      : reply.whenRoom(() => answerRequest(reply, body, { caller, summary }));
  }

  function answerRequest(reply: Reply, body: Buffer | null, from: Origin): Eventually<void> {
    const { request } = reply;
    const accepted = negotiation.of(request.headers.accept);
    if (accepted === null) return refuseTypes(reply);
    const ordinary = directPath ? readOrdinary(request, body) : null;
    if (ordinary !== null && 'fault' in ordinary)
      return refuseBody(reply, ordinary.fault, accepted);
    const context = contextOf(reply, body, from, { sent: ordinary?.sent ?? null, accepted });
    if (ordinary === null) return answerByYoga(reply, context, accepted);
    return after(graph.open(context), (opened) => answerDirectly(reply, context, opened, accepted));
  }

  function contextOf(
    reply: Reply,
    body: Buffer | null,
    { caller, summary }: Origin,
    { sent, accepted }: { readonly sent: unknown; readonly accepted: Accepted },
  ): GraphContext {
    const { request, requestId, trace } = reply;
    const isCacheable = request.method === 'GET' && accepted.single !== EVENT_STREAM;
    return graph.context(caller, {
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
    outcome: unknown,
    { operation }: GraphContext,
    { single }: Accepted,
  ): Eventually<void> {
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
    const { response, outcome } = await (await yoga())(context);
    reply.setAll(context.operation.headers);
    if (context.operation.events !== null || isSentAsItIs(outcome))
      return sendOutcome(reply, outcome, context, accepted);
    for (const [name, value] of response.headers) {
      if (!OURS.has(name.toLowerCase())) reply.set(name.toLowerCase(), value);
    }
    return sendResult(
      reply,
      response.status,
      Buffer.from(await response.arrayBuffer()),
      response.status === 406 ? PLAIN_JSON : accepted.single,
    );
  }

  function refuseTypes(reply: Reply): Eventually<void> {
    return refuse(reply, 406, 'The answer is JSON, or an event stream.');
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

  function refuseUntaken(error: unknown, reply: Reply): Eventually<void> {
    if (error instanceof PayloadTooLargeError) {
      return refuse(reply, 413, 'The body is too large.', 'PAYLOAD_TOO_LARGE');
    }
    if (error instanceof TooManyPiecesError) {
      received.stop(received.of(reply.request.socket), 'pieces');
      reply.set('connection', 'close');
      return refuse(reply, 413, 'The body comes in too many pieces.', 'PAYLOAD_TOO_LARGE');
    }
    if (error instanceof UnreadableBodyError) return refuse(reply, 400, 'The body cannot be read.');
    throw error;
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

/** Bytes already. */
function isSentAsItIs(outcome: unknown): boolean {
  return outcome instanceof CachedResult || outcome instanceof WrittenResult;
}

// These are set when the bytes are sent.
const OURS = new Set([
  'content-type',
  'content-length',
  'content-encoding',
  'transfer-encoding',
  'connection',
]);

/**
 * Loads yoga with its first request, which few clients send: it is a quarter of a start. That holds the event loop once, from
 * the image's bundle for some 50 ms, from the sources for 200.
 */
async function loadYoga({ graph }: EndpointSettings): Promise<YogaHandler> {
  const { createYogaHandler } = await import('./yoga.ts');
  return createYogaHandler(graph);
}
