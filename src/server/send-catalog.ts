import { type CatalogAnswer, isNamed } from '../engine/catalog/catalog-answer.ts';
import type { Reply } from './reply.ts';

/** Sends an answer made of the catalog alone; after a GET the client may cache it for its TTL. */
export function sendCatalog(
  reply: Reply,
  { etag, freshSeconds, bytes, packed }: CatalogAnswer,
): void | Promise<void> {
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
