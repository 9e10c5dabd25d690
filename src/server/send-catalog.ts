import type { IncomingMessage, ServerResponse } from 'node:http';
import { type CatalogAnswer, isNamed } from '../engine/catalog-answer.ts';
import { sendPacked } from './send.ts';

/** Sends what was made of the catalog alone; a client that asked by GET may keep it for a while. */
export async function sendCatalog(
  request: IncomingMessage,
  response: ServerResponse,
  { etag, freshSeconds, body }: CatalogAnswer,
): Promise<void> {
  const isGet = request.method === 'GET';
  if (isGet) {
    response.setHeader('etag', etag);
    response.setHeader('cache-control', `private, max-age=${freshSeconds}`);
  }
  if (body === null || (isGet && isNamed(request.headers['if-none-match'], etag))) {
    response.removeHeader('content-type');
    response.writeHead(304).end();
    return;
  }
  await sendPacked(request, response, body);
}
