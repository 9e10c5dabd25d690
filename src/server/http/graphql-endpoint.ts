import type { IncomingMessage } from 'node:http';
import type { IncomingRequest, Ready } from '../../engine/opened-operation.ts';
import type { Caller } from '../../gateway/caller.ts';
import type { Eventually } from '../../lib/eventually.ts';
import { onFirstUse } from '../../lib/on-first-use.ts';
import { type Body, isChunks } from '../../lib/pack.ts';
import type { Refused } from '../../plugins/request.ts';
import type { Code } from '../../schema/error-codes.ts';
import { requestError } from '../../schema/public-error.ts';
import type { RequestSummary } from '../../schema/request-summary.ts';
import { BearerTokens } from '../request/bearer.ts';
import { endRequestTrace, forwardedFrom, requestTrace } from '../request/request-trace.ts';
import type { ServerSettings } from '../settings.ts';
import { PayloadTooLargeError, TooManyPiecesError, takeBody, UnreadableBodyError } from './body.ts';
import { answerDirectly, readOrdinary, sendCatalog } from './direct-path.ts';
import { EventStream } from './event-stream.ts';
import { type EventStreams, sendStream } from './event-streams.ts';
import type { Reply } from './reply.ts';
import type { createGraphQLOverHttp, YogaReply } from './yoga.ts';

export interface EndpointSettings extends ServerSettings {
  /** Whether ordinary requests are answered without yoga. */
  readonly directPath: boolean;
}

/** May answer asynchronously; what it throws or rejects with is an internal error. */
export type GraphQLEndpoint = (reply: Reply) => Eventually<void>;

/** `/graphql` over HTTP: reads the request, lets yoga and the engine answer it, sends the answer. */
export function createGraphQLEndpoint(
  settings: EndpointSettings,
  streams: EventStreams,
): GraphQLEndpoint {
  const { engine, addresses, buffers, maxBodyBytes, directPath } = settings;
  const { accessLog, clientNames, tracing } = settings;
  const yoga = onFirstUse(() => loadYoga(settings));
  const tokens = new BearerTokens();

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
    const ordinary = directPath ? readOrdinary(request, body) : null;
    if (ordinary === null) return answerByYoga(reply, body, incoming, null);
    const answerOpened = (opened: Ready | Refused) =>
      isSubscription(opened)
        ? answerByYoga(reply, body, incoming, opened)
        : answerDirectly(reply, opened, ordinary.media);
    const opened = engine.open(ordinary.params, incoming);
    return opened instanceof Promise ? opened.then(answerOpened) : answerOpened(opened);
  }

  async function answerByYoga(
    reply: Reply,
    body: Buffer | null,
    incoming: IncomingRequest,
    opened: Ready | Refused | null,
  ): Promise<void> {
    const notes: YogaReply = { headers: {}, catalog: null, text: null, isLive: false };
    const events = new EventStream({ takesPacked: reply.takesGzip, summary: incoming.summary });
    const { fetch, fetchAPI } = await yoga();
    const answer = await fetch(asFetchRequest(fetchAPI, reply.request, body), {
      incoming,
      opened,
      reply: notes,
      events,
    });
    if (answer.status === 406) return refuse(reply, 406, 'The answer is JSON, or an event stream.');
    reply.setAll(notes.headers);
    for (const [name, value] of answer.headers) {
      if (!OURS.has(name.toLowerCase())) reply.set(name.toLowerCase(), value);
    }
    if (answer.headers.get('content-type')?.startsWith('text/event-stream') && answer.body) {
      incoming.summary.transport = 'sse';
      if (notes.isLive) accessLog.subscribed(incoming.summary, incoming.caller);
      if (notes.text === null) return stream(reply, answer, events, notes.isLive ? streams : null);
      // Reading to the end stops yoga's pings.
      await answer.arrayBuffer();
      return reply.send(answer.status, asOnlyEvent(notes.text));
    }
    if (notes.catalog) return sendCatalog(reply, notes.catalog);
    if (notes.text !== null) return reply.send(answer.status, notes.text);
    return reply.send(answer.status, Buffer.from(await answer.arrayBuffer()));
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
      taken: (body) => reply.guard(() => answer(reply, body, summary)),
      failed: (error) => reply.guard(() => refuseBody(error, reply)),
    });
  };
}

// `Reply` sets these when it sends the bytes.
const OURS = new Set(['content-length', 'content-encoding', 'transfer-encoding', 'connection']);

function isSubscription(operation: Ready | Refused): boolean {
  return operation.ready && operation.operation === 'subscription';
}

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
  body: Buffer | null,
): Request {
  const headers = new Headers();
  if (body) headers.set('content-type', 'application/json');
  headers.set('accept', acceptable(request.headers.accept));
  return new Request(`http://facade${request.url}`, {
    method: request.method ?? 'GET',
    headers,
    ...(body && { body: body as Uint8Array<ArrayBuffer> }),
  });
}

/** A wildcard means JSON, or an event stream for a subscription; multipart is not supported. */
function acceptable(accept: string | undefined): string {
  const everything = 'application/json, text/event-stream';
  const types = (accept ?? '')
    .replaceAll('*/*', everything)
    .split(',')
    .filter((type) => type.trim());
  // An empty Accept is a wildcard; yoga would read an empty type as JSON, even for a subscription.
  if (types.length === 0) return everything;
  const supported = types.filter((type) => !/^\s*multipart\//i.test(type));
  return supported.length > 0 ? supported.join() : 'multipart/none';
}

function isJsonType(contentType: string | undefined): boolean {
  return /^application\/json\s*(;|$)/i.test(contentType ?? '');
}

/** An event stream of one result. */
function asOnlyEvent(text: Body): Body {
  const head = 'event: next\ndata: ';
  const end = '\n\nevent: complete\ndata:\n\n';
  return isChunks(text) ? [Buffer.from(head), ...text, Buffer.from(end)] : `${head}${text}${end}`;
}

async function stream(
  reply: Reply,
  answer: Response,
  events: EventStream,
  streams: EventStreams | null,
): Promise<void> {
  reply.set('cache-control', 'no-store');
  reply.set('x-accel-buffering', 'no');
  if (events.takesPacked) reply.set('content-encoding', 'gzip');
  const response = reply.begin(answer.status);
  // A subscription may last for hours; its span is that of its start.
  if (reply.trace !== null) endRequestTrace(reply.trace, answer.status);
  streams?.add(response);
  try {
    await sendStream(response, answer.body as ReadableStream<Uint8Array>, events, reply.unread);
  } finally {
    streams?.delete(response);
  }
}
