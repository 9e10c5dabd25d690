import type { IncomingMessage } from 'node:http';
import type { IncomingRequest, Ready } from '../../engine/opened-operation.ts';
import type { Caller } from '../../gateway/caller.ts';
import type { Eventually } from '../../lib/eventually.ts';
import { onFirstUse } from '../../lib/on-first-use.ts';
import type { Refused } from '../../plugins/request.ts';
import type { Code } from '../../schema/error-codes.ts';
import { requestError } from '../../schema/public-error.ts';
import type { RequestSummary } from '../../schema/request-summary.ts';
import { forwardedFrom, requestTrace } from '../request/request-trace.ts';
import type { ServerSettings } from '../settings.ts';
import { PayloadTooLargeError, TooManyPiecesError, takeBody, UnreadableBodyError } from './body.ts';
import { answerDirectly, readOrdinary, sendCatalog, sendResult } from './direct-path.ts';
import type { EventStreams } from './event-streams.ts';
import {
  type Accepted,
  isJsonType,
  type MediaType,
  Negotiation,
  PLAIN_JSON,
  RESPONSE_JSON,
} from './negotiation.ts';
import type { Reply } from './reply.ts';
import { answerSubscription } from './subscription.ts';
import type { createGraphQLOverHttp, YogaReply } from './yoga.ts';

export interface EndpointSettings extends ServerSettings {
  /** Whether ordinary requests are answered without yoga. */
  readonly directPath: boolean;
  /** The interval of the comments that keep a quiet event stream open. */
  readonly pingMs: number;
  /** Called for each request that yoga answers. */
  readonly onGeneralPath: () => void;
}

/** May answer asynchronously; what it throws or rejects with is an internal error. */
export type GraphQLEndpoint = (reply: Reply) => Eventually<void>;

/** `/graphql` over HTTP: reads the request, lets yoga and the engine answer it, sends the answer. */
export function createGraphQLEndpoint(
  settings: EndpointSettings,
  streams: EventStreams,
): GraphQLEndpoint {
  const { engine, addresses, buffers, maxBodyBytes, directPath, pingMs, onGeneralPath } = settings;
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
    const { request, requestId, trace } = reply;
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
    const mayMutate = request.method === 'POST';
    const incoming: IncomingRequest = { caller, requestId, summary, mayMutate, trace };
    return buffers.hasRoom(caller)
      ? answerRequest(reply, body, incoming)
      : reply.whenRoom(() => answerRequest(reply, body, incoming));
  }

  function answerRequest(
    reply: Reply,
    body: Buffer | null,
    incoming: IncomingRequest,
  ): Eventually<void> {
    const { request } = reply;
    const accepted = negotiation.of(request.headers.accept);
    if (accepted === null) return refuseTypes(reply);
    const ordinary = directPath ? readOrdinary(request, body) : null;
    if (ordinary === null) return answerByYoga(reply, body, incoming, accepted);
    const answerOpened = (opened: Ready | Refused) =>
      opened.ready && opened.operation === 'subscription'
        ? answerEvents(reply, opened, incoming, accepted)
        : answerDirectly(reply, opened, accepted.single);
    const opened = engine.open(ordinary, incoming);
    return opened instanceof Promise ? opened.then(answerOpened) : answerOpened(opened);
  }

  function answerEvents(
    reply: Reply,
    operation: Ready,
    { summary, caller }: IncomingRequest,
    { single, takesEvents }: Accepted,
  ): Eventually<void> {
    reply.setAll(operation.headers);
    if (!takesEvents) return refuseTypes(reply);
    const subscribed = () => accessLog.subscribed(summary, caller);
    return answerSubscription(reply, operation, { single, summary, streams, pingMs, subscribed });
  }

  async function answerByYoga(
    reply: Reply,
    body: Buffer | null,
    incoming: IncomingRequest,
    accepted: Accepted,
  ): Promise<void> {
    onGeneralPath();
    const { single } = accepted;
    const notes: YogaReply = { headers: {}, catalog: null, text: null, subscription: null };
    const { fetch, fetchAPI } = await yoga();
    const request = asFetchRequest(fetchAPI, reply.request, { body, single });
    const answer = await fetch(request, { incoming, reply: notes });
    if (notes.subscription !== null) {
      return answerEvents(reply, notes.subscription, incoming, accepted);
    }
    reply.setAll(notes.headers);
    for (const [name, value] of answer.headers) {
      if (!OURS.has(name.toLowerCase())) reply.set(name.toLowerCase(), value);
    }
    if (notes.catalog) return sendCatalog(reply, notes.catalog, single);
    const result = notes.text ?? Buffer.from(await answer.arrayBuffer());
    return sendResult(reply, answer.status, result, single);
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
    if (reply.summary !== null) engine.refused([error], reply.summary);
    return reply.sendJson(status, { errors: [error] });
  }

  function refuseBody(error: unknown, reply: Reply): Eventually<void> {
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
      failed: (error) => reply.guard(() => refuseBody(error, reply)),
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

type Yoga = ReturnType<typeof createGraphQLOverHttp>;

/**
 * Loads yoga with its first request, which few clients send: it is a quarter of a start. That holds the event loop once, from
 * the image's bundle for some 50 ms, from the sources for 200. The build of the image shows that it can be loaded.
 */
async function loadYoga({ engine, maxBodyBytes }: EndpointSettings): Promise<Yoga> {
  const { createGraphQLOverHttp } = await import('./yoga.ts');
  return createGraphQLOverHttp({ engine, maxBodyBytes });
}

function asFetchRequest(
  { Headers, Request }: Yoga['fetchAPI'],
  request: IncomingMessage,
  { body, single }: { readonly body: Buffer | null; readonly single: MediaType },
): Request {
  const headers = new Headers();
  if (body) headers.set('content-type', PLAIN_JSON);
  // The result of an event stream has the status of plain JSON.
  headers.set('accept', single === RESPONSE_JSON ? RESPONSE_JSON : PLAIN_JSON);
  return new Request(`http://facade${request.url}`, {
    method: request.method ?? 'GET',
    headers,
    ...(body && { body: body as Uint8Array<ArrayBuffer> }),
  });
}
