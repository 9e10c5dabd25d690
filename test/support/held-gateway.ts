import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { TOKEN_HEADER } from '../../src/gateway/operations/conventions.ts';
import type { OperationName } from '../../src/gateway/operations.ts';
import { Routes } from '../../src/sandbox/routes.ts';
import type { Sandbox } from '../../src/sandbox/start.ts';
import { listenLocally } from './local-server.ts';

/** Makes another body from the JSON of an operation's answer. */
export type Change = (body: never, operation: OperationName | null, status: number) => unknown;

/** The sandbox gateway, with a proxy that holds the answers of operations until a test releases them, and changes their bodies. */
export async function startHeldGateway(sandbox: Sandbox) {
  let change: Change = (body) => body;
  let held: readonly OperationName[] = [];
  const routes = new Routes('mobile-wallet');
  let released = Promise.withResolvers<void>();
  let waiting = 0;
  let left = 0;
  const server = createServer(async (request, response) => {
    const { method = 'GET', url = '/', headers } = request;
    const body = method === 'GET' ? undefined : await buffer(request);
    const { pathname } = new URL(url, sandbox.url);
    const operation = routes.find(method, pathname)?.operation ?? null;
    if (operation !== null && held.includes(operation)) {
      waiting += 1;
      response.once('close', () => {
        if (!response.writableFinished) left += 1;
      });
      await released.promise;
    }
    const { 'content-type': type = 'application/json' } = headers;
    const token = String(headers[TOKEN_HEADER] ?? '');
    const sent = { method, headers: { [TOKEN_HEADER]: token, 'content-type': type } };
    const answer = await fetch(`${sandbox.url}${url}`, { ...sent, ...(body && { body }) });
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(change((await answer.json()) as never, operation, answer.status)));
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
    hold(...operations: readonly OperationName[]) {
      held = operations;
      released = Promise.withResolvers();
      waiting = 0;
      left = 0;
    },
    release() {
      held = [];
      released.resolve();
    },
  };
}
