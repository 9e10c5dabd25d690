import { createServer } from 'node:http';
import { listenLocally } from '../../support/local-server.ts';

/**
 * Starts a server in the place of a replica, and returns its address. The server answers every request, even health checks,
 * with its name. The header `x-arrived` of an answer has the request's headers.
 */
export async function startPod(
  opened: AsyncDisposableStack,
  name: string,
  { host = '127.0.0.1', port = 0 } = {},
): Promise<string> {
  const server = createServer(({ headers }, response) => {
    response.setHeader('x-arrived', JSON.stringify(headers));
    response.end(name);
  });
  const local = opened.use(await listenLocally(server, host, port));
  return `${host}:${local.port}`;
}
