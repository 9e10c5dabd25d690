import type { IncomingMessage } from 'node:http';
import type { Clock } from '../lib/clock.ts';
import { OPERATIONS, type OperationName } from '../src/gateway/operations.ts';
import { isRow } from '../src/gateway/wire/scalars.ts';
import type { SandboxControl } from './control.ts';
import { Refused, readCatalogChange, readFault, readTokenOptions } from './control-input.ts';
import { json, parseJson, type Reply, readBody } from './http.ts';
import type { Observations } from './observations.ts';

type Input = Readonly<Record<string, unknown>>;
type Orders = Readonly<Record<string, (input: Input, query: URLSearchParams) => unknown>>;

/** The control surface over HTTP. */
export function createControlListener(
  control: SandboxControl,
  observations: Observations,
  clock: Clock,
): (request: IncomingMessage, path: string) => Promise<Reply> {
  const orders = ordersOf(control, observations);

  return async (request, path) => {
    const verb = request.method ?? 'GET';
    const url = new URL(request.url ?? '/', 'http://sandbox');
    if (path === '/sandbox/redirected') {
      // No correct client requests an unknown path, so it is recorded for tests to see.
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
    if (bytes === null) return json(413, { error: 'PAYLOAD_TOO_LARGE' }, { connection: 'close' });
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

function ordersOf(control: SandboxControl, observations: Observations): Orders {
  return {
    'GET /sandbox/faults': () => ({ faults: control.faults() }),
    'POST /sandbox/faults': (input) => control.fail(readFault(input)),
    'DELETE /sandbox/faults': () => control.clearFaults(),
    'GET /sandbox/calls': (_input, query) => ({
      ...control.callCounts(),
      ...(query.has('since') && { ended: observations.endedSince(Number(query.get('since'))) }),
    }),
    'DELETE /sandbox/calls': () => control.clearCalls(),
    'GET /sandbox/requests': (_input, query) => ({
      requests: control.requests(operationOf(query)),
    }),
    'GET /sandbox/orders': () => ({ orders: control.orders() }),
    'POST /sandbox/tokens': (input) => {
      const options = readTokenOptions(input);
      return { access_token: control.token(options) };
    },
    'POST /sandbox/tokens/revoke': ({ token, login }) => {
      if (typeof token === 'string') control.revoke({ token });
      else if (typeof login === 'number') control.revoke({ login });
      else throw new Refused('token or login is required');
    },
    'POST /sandbox/tick': ({ times = 1 }) => {
      if (!Number.isInteger(times) || (times as number) < 1 || (times as number) > 100_000) {
        throw new Refused('times must be a whole number from 1 to 100000');
      }
      control.tick(times as number);
    },
    'POST /sandbox/market': ({ symbol, price, open }) => {
      if (typeof symbol !== 'string') throw new Refused('symbol must be a string');
      if (open !== undefined && !control.setOpen(symbol, open === true)) throw unknown(symbol);
      if (price === undefined) return;
      if (typeof price !== 'number' || !Number.isFinite(price) || price <= 0) {
        throw new Refused('price must be a number above 0');
      }
      if (!control.putPrice(symbol, price)) throw unknown(symbol);
    },
    'POST /sandbox/catalog': (input) => control.changeCatalog(readCatalogChange(input)),
    'POST /sandbox/catalog/size': ({ size }) => {
      if (!Number.isInteger(size) || (size as number) < 1 || (size as number) > 20_000) {
        throw new Refused('size must be a whole number from 1 to 20000');
      }
      control.resizeCatalog(size as number);
    },
    'POST /sandbox/reset': () => control.reset(),
  };
}

function unknown(symbol: string): Refused {
  return new Refused(`there is no instrument ${symbol}`);
}

function operationOf(query: URLSearchParams): OperationName | undefined {
  const name = query.get('operation');
  if (name === null) return undefined;
  if (!Object.hasOwn(OPERATIONS, name)) throw new Refused(`there is no operation ${name}`);
  return name as OperationName;
}
