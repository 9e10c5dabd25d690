import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Ready, Refused, Visit } from '../engine/engine.ts';
import type { Code } from '../schema/error-codes.ts';
import { requestError } from '../schema/public-error.ts';
import { bearerToken } from './bearer.ts';
import { PayloadTooLargeError, readBody, UnreadableBodyError } from './body.ts';
import { answerDirectly, readOrdinary } from './direct-path.ts';
import type { EventStreams } from './event-streams.ts';
import { send } from './send.ts';
import { sendCatalog } from './send-catalog.ts';
import { sendStream } from './send-stream.ts';
import type { ServerSettings } from './settings.ts';
import { createGraphQLOverHttp, type YogaReply } from './yoga.ts';

export interface EndpointSettings extends ServerSettings {
  /** Whether ordinary requests are answered without yoga. */
  readonly directPath: boolean;
}

export type GraphQLEndpoint = (
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
) => Promise<void>;

/** `/graphql` over HTTP: reads the request, lets yoga and the engine answer it, sends the answer. */
export function createGraphQLEndpoint(
  settings: EndpointSettings,
  streams: EventStreams,
): GraphQLEndpoint {
  const { engine, addresses, maxBodyBytes, directPath } = settings;
  const yoga = createGraphQLOverHttp({ engine, maxBodyBytes });

  return async (request, response, requestId) => {
    const gone = new AbortController();
    response.once('close', () => {
      if (!response.writableFinished) gone.abort();
    });
    // Forms and plain texts are what a page of another origin may send unasked.
    if (request.method === 'POST' && !isJsonType(request.headers['content-type'])) {
      return refuse(request, response, 415, 'The body is JSON, and its type says so.');
    }
    let body: Buffer | null;
    try {
      body = request.method === 'POST' ? await readBody(request, maxBodyBytes) : null;
    } catch (error) {
      return refuseBody(error, request, response);
    }
    const visit: Visit = {
      caller: {
        token: bearerToken(request.headers.authorization),
        signal: gone.signal,
        client: {
          address: addresses.of(request),
          userAgent: request.headers['user-agent'] ?? null,
        },
      },
      requestId,
      mayMutate: request.method === 'POST',
    };
    const ordinary = directPath ? readOrdinary(request, body) : null;
    const opened = ordinary && (await engine.open(ordinary.params, visit));
    if (ordinary && opened && !isSubscription(opened)) {
      return answerDirectly(request, response, opened, ordinary.media);
    }
    const reply: YogaReply = { headers: {}, catalog: null, isLive: false };
    const answer = await yoga.fetch(asFetchRequest(yoga, request, body), {
      visit,
      opened,
      reply,
    });
    if (answer.status === 406) {
      return refuse(request, response, 406, 'The answer is JSON, or an event stream.');
    }
    for (const [name, value] of Object.entries(reply.headers)) response.setHeader(name, value);
    for (const [name, value] of answer.headers) {
      if (!OURS.has(name.toLowerCase())) response.setHeader(name, value);
    }
    if (answer.headers.get('content-type')?.startsWith('text/event-stream') && answer.body) {
      return stream(response, answer, reply.isLive ? streams : null);
    }
    if (reply.catalog) return sendCatalog(request, response, reply.catalog);
    await send(request, response, answer.status, Buffer.from(await answer.arrayBuffer()));
  };
}

// Longer than the minute for which a client may be too busy, or too far down a tunnel, to read.
const UNREAD_MS = 75_000;

// Set by whoever sends the bytes.
const OURS = new Set(['content-length', 'content-encoding', 'transfer-encoding', 'connection']);

function isSubscription(operation: Ready | Refused): boolean {
  return operation.ready && operation.operation === 'subscription';
}

type Yoga = ReturnType<typeof createGraphQLOverHttp>;

function asFetchRequest(yoga: Yoga, request: IncomingMessage, body: Buffer | null): Request {
  const headers = new yoga.fetchAPI.Headers();
  if (body) headers.set('content-type', 'application/json');
  headers.set('accept', acceptable(request.headers.accept));
  return new yoga.fetchAPI.Request(`http://facade${request.url}`, {
    method: request.method ?? 'GET',
    headers,
    ...(body && { body: body as Uint8Array<ArrayBuffer> }),
  });
}

/** Who takes anything gets JSON, and a subscription as an event stream; multipart is not spoken here. */
function acceptable(accept: string | undefined): string {
  const everything = 'application/json, text/event-stream';
  const types = (accept ?? '')
    .replaceAll('*/*', everything)
    .split(',')
    .filter((type) => type.trim());
  // Who names nothing takes anything; yoga would take a nameless type for JSON, even of a subscription.
  if (types.length === 0) return everything;
  const spoken = types.filter((type) => !/^\s*multipart\//i.test(type));
  return spoken.length > 0 ? spoken.join() : 'multipart/none';
}

function isJsonType(contentType: string | undefined): boolean {
  return /^application\/json\s*(;|$)/i.test(contentType ?? '');
}

async function stream(
  response: ServerResponse,
  answer: Response,
  streams: EventStreams | null,
): Promise<void> {
  response.setHeader('cache-control', 'no-store');
  response.setHeader('x-accel-buffering', 'no');
  response.writeHead(answer.status);
  response.flushHeaders();
  streams?.add(response);
  try {
    await sendStream(response, answer.body as ReadableStream<Uint8Array>, UNREAD_MS);
  } finally {
    streams?.delete(response);
  }
}

async function refuseBody(
  error: unknown,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!(error instanceof PayloadTooLargeError || error instanceof UnreadableBodyError)) throw error;
  return error instanceof PayloadTooLargeError
    ? refuse(request, response, 413, 'The body is too large.', 'PAYLOAD_TOO_LARGE')
    : refuse(request, response, 400, 'The body cannot be read.');
}

/** What is refused before there is an operation. */
async function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  message: string,
  code: Code = 'GRAPHQL_PARSE_FAILED',
): Promise<void> {
  response.setHeader('content-type', 'application/json; charset=utf-8');
  await send(request, response, status, JSON.stringify({ errors: [requestError(code, message)] }));
}
