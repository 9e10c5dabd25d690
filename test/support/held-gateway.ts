import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Sandbox } from '../../sandbox/start.ts';
import { listenLocally } from './local-server.ts';

/** The sandbox gateway behind a front that holds the answers of paths until a test lets them go. */
export async function startHeldGateway(sandbox: Sandbox) {
  let held: RegExp | null = null;
  let released = Promise.withResolvers<void>();
  let waiting = 0;
  let left = 0;
  const server = createServer(async (request, response) => {
    const { method = 'GET', url = '/', headers } = request;
    const body = method === 'GET' ? undefined : await buffer(request);
    if (held?.test(url)) {
      waiting += 1;
      response.once('close', () => {
        if (!response.writableFinished) left += 1;
      });
      await released.promise;
    }
    const { authorization = '', 'content-type': type = 'application/json' } = headers;
    const sent = { method, headers: { authorization, 'content-type': type } };
    const answer = await fetch(`${sandbox.url}${url}`, { ...sent, ...(body && { body }) });
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  const local = await listenLocally(server);
  return {
    ...local,
    /** The requests that were held, and those whose client has left meanwhile. */
    get waiting() {
      return waiting;
    },
    get left() {
      return left;
    },
    hold(paths: RegExp) {
      held = paths;
      released = Promise.withResolvers();
      waiting = 0;
      left = 0;
    },
    release() {
      held = null;
      released.resolve();
    },
  };
}
