import type { IncomingMessage } from 'node:http';
import type { ExecutionResult } from 'graphql';
import type { CatalogAnswer } from '../engine/catalog/catalog-answer.ts';
import type { Ready } from '../engine/opened-operation.ts';
import type { Refused } from '../engine/request.ts';
import { readQueryString } from './query-string.ts';
import type { RecurringBodies } from './recurring-bodies.ts';
import type { Reply } from './reply.ts';
import { sendCatalog } from './send-catalog.ts';

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
  bodies: RecurringBodies,
): OrdinaryRequest | null {
  const media = mediaFor(request.headers.accept);
  if (media === null) return null;
  let params: unknown;
  try {
    params =
      request.method === 'GET'
        ? readQueryString(request.url ?? '')
        : readJson(request, body, bodies);
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
): void | Promise<void> {
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
): void | Promise<void> {
  if ('etag' in answer) return sendCatalog(reply, answer);
  const text = operation.text(answer);
  return text instanceof Promise
    ? text.then((written) => reply.send(200, written))
    : reply.send(200, text);
}

function readJson(
  { headers }: IncomingMessage,
  body: Buffer | null,
  bodies: RecurringBodies,
): unknown {
  return body === null || !isJson(headers['content-type']) ? null : bodies.parse(body);
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
