import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { type LocalServer, listenLocally } from '../../support/local-server.ts';

interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** The answer: a status with a body, which is no JSON where it is undefined, or a connection that breaks before or within it. */
export type Reply = { readonly status: number; readonly body: unknown } | 'reset' | 'cut';

export interface SideService extends LocalServer {
  readonly received: Received[];
  /** The requests whose client has left before they were answered. */
  readonly aborted: number;
  answer: (request: Received) => Reply | Promise<Reply>;
}

export const NEWS = { id: 'n1', symbol: 'AAPL', headline: 'A new phone', published: 1_780_000_000 };

/** Another service of the team, as a test wants it to be. */
export async function startSideService(): Promise<SideService> {
  const received: Received[] = [];
  let aborted = 0;
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const one = { method, path: url, headers, body: await text(request) };
    received.push(one);
    response.once('close', () => {
      if (!response.writableEnded) aborted += 1;
    });
    const reply = await service.answer(one);
    if (reply === 'cut') {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 });
      response.write('{"ok":', () => request.socket.destroy());
      return;
    }
    if (reply === 'reset') {
      request.socket.destroy();
      return;
    }
    const type = reply.body === undefined ? 'text/html' : 'application/json';
    response.writeHead(reply.status, { 'content-type': type });
    response.end(reply.status === 204 ? undefined : (JSON.stringify(reply.body) ?? 'a page'));
  });
  const local = await listenLocally(server);
  const service: SideService = {
    ...local,
    received,
    get aborted() {
      return aborted;
    },
    answer: healthy,
  };
  return service;
}

export function healthy({ method, path, body }: Received): Reply {
  if (path.startsWith('/v2/articles')) return { status: 200, body: { articles: [NEWS] } };
  if (method === 'GET') {
    return { status: 200, body: { alerts: [{ id: 'a1', symbol: 'AAPL', price: 5 }] } };
  }
  return { status: 201, body: { id: 'a2', ...JSON.parse(body) } };
}
