import { type CatalogAnswer, isNamed } from '../engine/catalog/catalog-answer.ts';
import type { Reply } from './reply.ts';

/** Sends what was made of the catalog alone; a client that asked by GET may keep it for a while. */
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
  const held = packed(encoding);
  return held instanceof Promise
    ? held.then((arrived) => reply.sendPacked(200, arrived, encoding))
    : reply.sendPacked(200, held, encoding);
}
