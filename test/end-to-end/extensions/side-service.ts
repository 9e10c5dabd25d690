import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { type LocalServer, listenLocally } from '../../support/local-server.ts';

interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** What it answers: a status with a body, a connection that breaks, or nothing. */
type Reply = { readonly status: number; readonly body: unknown } | 'reset' | 'silence';

export interface SideService extends LocalServer {
  readonly received: readonly Received[];
  answer: (request: Received) => Reply;
}

export const NEWS = { id: 'n1', symbol: 'AAPL', headline: 'A new phone', published: 1_780_000_000 };

/** The other service of the example, as a test wants it to be. */
export async function startSideService(): Promise<SideService> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const one = { method, path: url, headers, body: await text(request) };
    received.push(one);
    const reply = service.answer(one);
    if (reply === 'silence') return;
    if (reply === 'reset') {
      request.socket.destroy();
      return;
    }
    response.writeHead(reply.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(reply.body));
  });
  const service: SideService = Object.assign(await listenLocally(server), {
    received,
    answer: healthy,
  });
  return service;
}

export function healthy({ method, path, body }: Received): Reply {
  if (path.startsWith('/v2/articles')) return { status: 200, body: { articles: [NEWS] } };
  if (method === 'GET')
    return { status: 200, body: { alerts: [{ id: 'a1', symbol: 'AAPL', price: 5 }] } };
  return { status: 201, body: { id: 'a2', ...JSON.parse(body) } };
}
