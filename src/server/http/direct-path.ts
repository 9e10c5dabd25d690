import type { IncomingMessage } from 'node:http';
import type { ExecutionResult } from 'graphql';
import type { Ready } from '../../engine/opened-operation.ts';
import type { Eventually } from '../../lib/eventually.ts';
import { parseExactJson } from '../../lib/exact-json.ts';
import type { Body } from '../../lib/pack.ts';
import type { Refused } from '../../plugins/request.ts';
import { type CatalogAnswer, isNamed } from '../../plugins/response-cache/catalog-answer.ts';
import { asOnlyEvent } from './event-stream.ts';
import { EVENT_STREAM, type MediaType, RESPONSE_JSON } from './negotiation.ts';
import { readQueryString } from './query-string.ts';
import type { Reply } from './reply.ts';

export type Params = Readonly<Record<string, unknown>>;

/**
 * The parameters of a GET, or of a POST whose body is a JSON object; null for any other request, which yoga
 * reads. Past it lie the web's streams, which cost more than all the rest. Both must answer alike.
 */
export function readOrdinary({ method, url }: IncomingMessage, body: Buffer | null): Params | null {
  try {
    if (method === 'GET') return readQueryString(url ?? '');
    const params: unknown = body === null ? null : parseExactJson(body.toString());
    const isObject = typeof params === 'object' && params !== null && !Array.isArray(params);
    return isObject ? (params as Params) : null;
  } catch {
    return null;
  }
}

/** Synchronous where the answer is already in memory. */
export function answerDirectly(
  reply: Reply,
  operation: Ready | Refused,
  media: MediaType,
): Eventually<void> {
  reply.setAll(operation.headers);
  if (!operation.ready) {
    const { status, isWellFormed, errors } = operation;
    // Clients older than `application/graphql-response+json` read a wrong document's errors only from a 200.
    const shown = isWellFormed && status === 400 && media !== RESPONSE_JSON ? 200 : status;
    return sendResult(reply, shown, JSON.stringify({ errors }), media);
  }
  const { headers, method } = reply.request;
  const isCacheable = method === 'GET' && media !== EVENT_STREAM;
  const answer = operation.readsCatalogOnly
    ? operation.answerFromCatalog(isCacheable ? headers['if-none-match'] : undefined)
    : operation.execute();
  return answer instanceof Promise
    ? answer.then((result) => sendAnswer(reply, operation, result, media))
    : sendAnswer(reply, operation, answer, media);
}

function sendAnswer(
  reply: Reply,
  operation: Ready,
  answer: ExecutionResult | CatalogAnswer,
  media: MediaType,
): Eventually<void> {
  if ('etag' in answer) return sendCatalog(reply, answer, media);
  const text = operation.text(answer);
  return text instanceof Promise
    ? text.then((written) => sendResult(reply, 200, written, media))
    : sendResult(reply, 200, text, media);
}

/** Sends an answer made of the catalog alone; after a GET the client may cache it for its TTL. */
export function sendCatalog(
  reply: Reply,
  { etag, freshSeconds, bytes, packed }: CatalogAnswer,
  media: MediaType,
): Eventually<void> {
  if (media === EVENT_STREAM && bytes !== null) return sendResult(reply, 200, bytes, media);
  const { method, headers } = reply.request;
  if (method === 'GET') {
    reply.set('etag', etag);
    reply.set('cache-control', `private, max-age=${freshSeconds}`);
  }
  if (bytes === null || (method === 'GET' && isNamed(headers['if-none-match'], etag))) {
    return reply.sendNothing(304);
  }
  const encoding = reply.encodingFor(bytes.length);
  if (encoding === null || packed === null) return sendResult(reply, 200, bytes, media);
  reply.set('content-type', contentTypeOf(media));
  const body = packed(encoding);
  return body instanceof Promise
    ? body.then((compressed) => reply.sendPacked(200, compressed, encoding))
    : reply.sendPacked(200, body, encoding);
}

/** Sends a serialized result as the media type that was negotiated. */
export function sendResult(
  reply: Reply,
  status: number,
  result: Body,
  media: MediaType,
): Eventually<void> {
  reply.set('content-type', contentTypeOf(media));
  if (media !== EVENT_STREAM) return reply.send(status, result);
  if (reply.summary !== null) reply.summary.transport = 'sse';
  return reply.send(status, asOnlyEvent(result));
}

/** An event stream is always UTF-8. */
function contentTypeOf(media: MediaType): string {
  return media === EVENT_STREAM ? media : `${media}; charset=utf-8`;
}
