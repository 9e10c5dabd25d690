import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { TOKEN_HEADER, tokenIn } from '../gateway/operations/conventions.ts';
import type { Call, Context } from './call.ts';
import type { Faults } from './faults.ts';
import { json, parseJson, type Reply, readBody, respond } from './http.ts';
import { injectFault } from './inject-fault.ts';
import type { Observations } from './observations.ts';
import { HANDLERS } from './operations/table.ts';
import { refuse } from './refusals.ts';
import type { Route, Routes } from './routes.ts';

interface ServerParts {
  readonly context: Context;
  readonly faults: Faults;
  readonly observations: Observations;
  readonly routes: Routes;
  /** Handles requests under `/sandbox/`. */
  readonly control: (request: IncomingMessage, path: string) => Promise<Reply>;
}

const CONTROL = '/sandbox/';
const NO_BODY = Buffer.alloc(0);
const SHOWN_BODY_BYTES = 65_536;
const NO_OPERATION = json(404, { error: 'NOT_FOUND', message: 'There is no such operation.' });

/** Handles one request: routes, reads and counts it, then carries it out or injects a fault. */
export function createListener(parts: ServerParts): RequestListener {
  return (request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0] as string;
    const served = path.startsWith(CONTROL)
      ? parts.control(request, path).then((reply) => respond(response, reply))
      : serve(parts, request, response, path);
    served.catch(() => {
      // A bug in the sandbox must not crash the process. It is answered with a 500, unless an answer has begun.
      if (response.headersSent) response.destroy();
      else respond(response, json(500, { error: 'SANDBOX_BUG', message: 'The sandbox failed.' }));
    });
  };
}

async function serve(
  parts: ServerParts,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
): Promise<void> {
  const { context, faults, observations, routes } = parts;
  const verb = request.method ?? 'GET';
  const route = routes.find(verb, path);
  const bytes = verb === 'GET' ? NO_BODY : await readBody(request);
  const token = tokenIn(request.headers[TOKEN_HEADER]);
  const claims = token === null ? null : context.tokens.verify(token);
  observations.note({
    method: verb,
    path: request.url ?? '/',
    operation: route?.operation ?? null,
    isCounted: route?.isFirst === true,
    login: claims?.login ?? null,
    headers: request.headers,
    body: bytes === null ? '' : bytes.toString('utf8', 0, SHOWN_BODY_BYTES),
  });
  if (route === null) return respond(response, NO_OPERATION);
  if (bytes === null) return respond(response, tooLarge(route));

  const { operation, call: name, params } = route;
  const body = bytes.length === 0 ? undefined : parseJson(bytes);
  const query = new URLSearchParams(request.url?.split('?')[1]);
  const call: Call = { operation, name, params, query, body, headers: request.headers, claims };
  const fault = faults.take(operation, claims?.login ?? null);
  if (fault === null) {
    return respond(response, await HANDLERS[operation](call, context));
  }
  await injectFault({
    fault,
    response,
    apply: async () => HANDLERS[operation](call, context),
    refuse: (status) =>
      refuse(operation, status, errorName(status), 'A fault was set in the sandbox.'),
    wait: context.wait,
  });
}

function tooLarge({ operation }: Route): Reply {
  return refuse(operation, 413, 'PAYLOAD_TOO_LARGE', 'A body has up to 1 MB.');
}

function errorName(status: number): string {
  if (status === 401) return 'UNAUTHORIZED';
  if (status === 403) return 'FORBIDDEN';
  if (status === 429) return 'RATE_LIMITED';
  return status >= 500 ? 'UNAVAILABLE' : 'REFUSED';
}
