import { createServer } from 'node:http';
import { listenLocally } from '../../support/local-server.ts';

/**
 * A stand-in for a replica. It answers every request, even checks, with its name, and returns the request's headers in one
 * header. Resolves to its address.
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
