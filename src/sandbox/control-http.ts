import type { IncomingMessage } from 'node:http';
import { OPERATIONS, type OperationName } from '../gateway/operations.ts';
import { isRow } from '../gateway/wire/scalars.ts';
import type { Clock } from '../lib/clock.ts';
import { Refused, type SandboxControl } from './control.ts';
import * as inputs from './control-input.ts';
import { json, parseJson, type Reply, readBody } from './http.ts';
import type { Observations } from './observations.ts';

type Input = Readonly<Record<string, unknown>>;
type Orders = Readonly<Record<string, (input: Input, query: URLSearchParams) => unknown>>;

/** Serves the controls over HTTP. */
export function createControlListener(
  control: SandboxControl,
  observations: Observations,
  clock: Clock,
): (request: IncomingMessage, path: string) => Promise<Reply> {
  const orders = ordersOf(control);

  return async (request, path) => {
    const verb = request.method ?? 'GET';
    const url = new URL(request.url ?? '/', 'http://sandbox');
    if (path === '/sandbox/redirected') {
      // No correct client requests this path, so tests look for it among the requests.
      observations.note({
        atMs: clock.now(),
        method: verb,
        path,
        operation: null,
        login: null,
        headers: request.headers,
        body: Buffer.alloc(0),
      });
      return json(200, { success: true, redirected: true });
    }
    const order = orders[`${verb} ${path}`];
    if (order === undefined)
      return json(404, { error: 'NOT_FOUND', message: `No ${verb} ${path}` });
    const bytes = await readBody(request);
    if (bytes === null) return json(413, { error: 'PAYLOAD_TOO_LARGE' });
    const input = bytes.length === 0 ? {} : parseJson(bytes);
    if (!isRow(input)) return json(400, { error: 'BAD_INPUT', message: 'The body is no object.' });
    try {
      return json(200, order(input, url.searchParams) ?? { ok: true });
    } catch (problem) {
      if (!(problem instanceof Refused)) throw problem;
      return json(400, { error: 'BAD_INPUT', message: problem.message });
    }
  };
}

function ordersOf(control: SandboxControl): Orders {
  return {
    'GET /sandbox/faults': () => ({ faults: control.faults() }),
    'POST /sandbox/faults': (input) => control.fail(inputs.read(inputs.FAULT, input)),
    'DELETE /sandbox/faults': () => control.clearFaults(),
    'GET /sandbox/calls': () => control.callCounts(),
    'DELETE /sandbox/calls': () => control.clearCalls(),
    'GET /sandbox/requests': (_input, query) => ({
      requests: control.requests(operationOf(query)),
    }),
    'GET /sandbox/orders': () => ({ orders: control.orders() }),
    'POST /sandbox/tokens': (input) => ({
      access_token: control.token(inputs.read(inputs.TOKEN_OPTIONS, input)),
    }),
    'POST /sandbox/tokens/revoke': (input) => {
      const { token, login } = inputs.read(inputs.REVOCATION, input);
      if (token !== undefined) control.revoke({ token });
      else if (login !== undefined) control.revoke({ login });
      else throw new Refused('token or login is required');
    },
    'POST /sandbox/tick': (input) => control.tick(inputs.read(inputs.TICK, input).times),
    'POST /sandbox/market': (input) => {
      const { symbol, price } = inputs.read(inputs.MARKET, input);
      if (!control.putPrice(symbol, price)) throw new Refused(`there is no instrument ${symbol}`);
    },
    'POST /sandbox/catalog': (input) =>
      control.changeCatalog(inputs.read(inputs.CATALOG_CHANGE, input)),
    'POST /sandbox/reset': () => control.reset(),
  };
}

function operationOf(query: URLSearchParams): OperationName | undefined {
  const name = query.get('operation');
  if (name === null) return undefined;
  if (!Object.hasOwn(OPERATIONS, name)) throw new Refused(`there is no operation ${name}`);
  return name as OperationName;
}
