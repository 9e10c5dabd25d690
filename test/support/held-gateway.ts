import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Sandbox } from '../../src/sandbox/start.ts';
import { listenLocally } from './local-server.ts';

/** Makes another body from the JSON of an answer to a request of this URL. */
export type Change = (body: never, url: string, status: number) => unknown;

/** The sandbox gateway, with a proxy that holds the answers of paths until a test releases them, and changes their bodies. */
export async function startHeldGateway(sandbox: Sandbox) {
  let change: Change = (body) => body;
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
    response.end(JSON.stringify(change((await answer.json()) as never, url, answer.status)));
  });
  const local = await listenLocally(server);
  return {
    ...local,
    /** The number of held requests. */
    get waiting() {
      return waiting;
    },
    /** The number of held requests whose client has left. */
    get left() {
      return left;
    },
    /** Changes the bodies of all later answers. */
    change(by: Change) {
      change = by;
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
