import type { IncomingMessage } from 'node:http';
import type { ExecutionResult } from 'graphql';
import type { Ready } from '../../engine/opened-operation.ts';
import type { Eventually } from '../../lib/eventually.ts';
import { parseExactJson } from '../../lib/exact-json.ts';
import type { Refused } from '../../plugins/request.ts';
import { type CatalogAnswer, isNamed } from '../../plugins/response-cache/catalog-answer.ts';
import { readQueryString } from './query-string.ts';
import type { Reply } from './reply.ts';

type Media = 'application/json' | 'application/graphql-response+json';

/**
 * The hot path: one operation as JSON, answered as JSON, as nearly every request is. It goes from the
 * socket to the engine without web streams, which cost more than all the rest; any other request
 * goes through yoga. Both must answer alike.
 */
export interface OrdinaryRequest {
  readonly params: Readonly<Record<string, unknown>>;
  readonly media: Media;
}

export function readOrdinary(
  request: IncomingMessage,
  body: Buffer | null,
): OrdinaryRequest | null {
  const media = mediaFor(request.headers.accept);
  if (media === null) return null;
  let params: unknown;
  try {
    params =
      request.method === 'GET' ? readQueryString(request.url ?? '') : readJson(request, body);
  } catch {
    return null;
  }
  if (typeof params !== 'object' || params === null || Array.isArray(params)) return null;
  return { params: params as Record<string, unknown>, media };
}

/** Synchronous where the answer is already in memory. */
export function answerDirectly(
  reply: Reply,
  operation: Ready | Refused,
  media: Media,
): Eventually<void> {
  reply.set('content-type', CONTENT_TYPES[media]);
  reply.setAll(operation.headers);
  if (!operation.ready) {
    const { status, isWellFormed, errors } = operation;
    // Clients older than `application/graphql-response+json` read a wrong document's errors only from a 200.
    const shown = isWellFormed && status === 400 && media === 'application/json' ? 200 : status;
    return reply.send(shown, JSON.stringify({ errors }));
  }
  const { headers, method } = reply.request;
  const answer = operation.readsCatalogOnly
    ? operation.answerFromCatalog(method === 'GET' ? headers['if-none-match'] : undefined)
    : operation.execute();
  return answer instanceof Promise
    ? answer.then((result) => sendAnswer(reply, operation, result))
    : sendAnswer(reply, operation, answer);
}

function sendAnswer(
  reply: Reply,
  operation: Ready,
  answer: ExecutionResult | CatalogAnswer,
): Eventually<void> {
  if ('etag' in answer) return sendCatalog(reply, answer);
  const text = operation.text(answer);
  return text instanceof Promise
    ? text.then((written) => reply.send(200, written))
    : reply.send(200, text);
}

/** Sends an answer made of the catalog alone; after a GET the client may cache it for its TTL. */
export function sendCatalog(
  reply: Reply,
  { etag, freshSeconds, bytes, packed }: CatalogAnswer,
): Eventually<void> {
  const { method, headers } = reply.request;
  if (method === 'GET') {
    reply.set('etag', etag);
    reply.set('cache-control', `private, max-age=${freshSeconds}`);
  }
  if (bytes === null || (method === 'GET' && isNamed(headers['if-none-match'], etag))) {
    reply.remove('content-type');
    return reply.sendNothing(304);
  }
  const encoding = reply.encodingFor(bytes.length);
  if (encoding === null || packed === null) return reply.send(200, bytes);
  const body = packed(encoding);
  return body instanceof Promise
    ? body.then((compressed) => reply.sendPacked(200, compressed, encoding))
    : reply.sendPacked(200, body, encoding);
}

function readJson({ headers }: IncomingMessage, body: Buffer | null): unknown {
  if (body === null || !isJson(headers['content-type'])) return null;
  return parseExactJson(body.toString());
}

function isJson(contentType: string | undefined): boolean {
  return contentType === 'application/json' || contentType === 'application/json; charset=utf-8';
}

const CONTENT_TYPES: Readonly<Record<Media, string>> = {
  'application/json': 'application/json; charset=utf-8',
  'application/graphql-response+json': 'application/graphql-response+json; charset=utf-8',
};

const MEDIA_BY_ACCEPT: ReadonlyMap<string, Media> = new Map([
  ['*/*', 'application/json'],
  ['application/json', 'application/json'],
  ['application/json, */*', 'application/json'],
  ['application/json, text/plain, */*', 'application/json'],
  ['application/graphql-response+json', 'application/graphql-response+json'],
  ['application/graphql-response+json, application/json', 'application/graphql-response+json'],
  ['application/graphql-response+json,application/json', 'application/graphql-response+json'],
]);

/** Knows only headers as common clients send them; content negotiation of any other is yoga's. */
function mediaFor(accept: string | undefined): Media | null {
  return MEDIA_BY_ACCEPT.get(accept ?? '*/*') ?? null;
}
