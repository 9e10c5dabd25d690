import type { ExecutionResult } from 'graphql';
import { chain, type MaybePromise } from '../../../lib/maybe-promise.ts';
import type { Body } from '../../../lib/pack.ts';
import type { Operation } from '../../admission/operation.ts';
import { isNamed } from '../../execution/cached-answer.ts';
import { jsonText } from '../../execution/json-text.ts';
import { CachedResult } from '../../execution/response-cache.ts';
import type { Refusal } from '../../operation/refusal.ts';
import { asOnlyEvent } from './event-stream.ts';
import { FRAMINGS, isStream } from './framings.ts';
import { type MediaType, PLAIN_JSON, RESPONSE_JSON } from './negotiation.ts';
import type { HttpReply } from './reply.ts';

/** Answers a request that is refused, by the status that GraphQL over HTTP gives it. */
export function sendRefusal(
  reply: HttpReply,
  { status, headers, isWellFormed, errors }: Refusal,
  media: MediaType,
): MaybePromise<void> {
  reply.setAll(headers);
  const text = JSON.stringify({ errors });
  // Its media types are what was refused.
  if (status === 406) return sendResult(reply, status, text, PLAIN_JSON);
  // Clients older than `application/graphql-response+json` read a wrong document's errors only from a 200.
  const shown = isWellFormed && status === 400 && media !== RESPONSE_JSON ? 200 : status;
  return sendResult(reply, shown, text, media);
}

/** Sends the result of a query or a mutation. */
export function sendAnswer(
  reply: HttpReply,
  result: ExecutionResult,
  operation: Operation | null,
  media: MediaType,
): MaybePromise<void> {
  if (result instanceof CachedResult) return sendCached(reply, result, media);
  return chain(jsonText(result, operation?.meter), (text) => sendResult(reply, 200, text, media));
}

/** Sends a result that may be cached; after a GET the client may cache it for its TTL. */
function sendCached(
  reply: HttpReply,
  { sent: { etag, freshSeconds, bytes, packed } }: CachedResult,
  media: MediaType,
): MaybePromise<void> {
  if (isStream(media) && bytes !== null) return sendResult(reply, 200, bytes, media);
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
  return chain(packed(encoding), (body) => reply.sendPacked(200, body, encoding));
}

/** Sends a serialized result as the media type that was negotiated. */
function sendResult(
  reply: HttpReply,
  status: number,
  result: Body,
  media: MediaType,
): MaybePromise<void> {
  reply.set('content-type', contentTypeOf(media));
  if (!isStream(media)) return reply.send(status, result);
  if (reply.summary !== null) reply.summary.transport = 'sse';
  return reply.send(status, asOnlyEvent(result, media));
}

/** A stream is always UTF-8. */
function contentTypeOf(media: MediaType): string {
  return isStream(media) ? FRAMINGS[media].contentType : `${media}; charset=utf-8`;
}
