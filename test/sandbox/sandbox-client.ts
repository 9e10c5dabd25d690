import type { WireSession } from '../../src/gateway/operations/get-session.ts';
import type { WireOrder, WirePosition } from '../../src/gateway/operations/holdings.ts';
import { toToken } from '../../src/lib/token.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/start.ts';
import { createScriptedClock } from '../support/scripted-clock.ts';

/** A sandbox whose market and clock change only when the test moves them. */
export async function openSandbox(options: SandboxOptions = {}) {
  const clock = createScriptedClock();
  const sandbox = await startSandbox({ tickMs: 0, clock, seed: 'test', ...options });
  return {
    sandbox,
    clock,
    anonymous: createSandboxClient(sandbox, null),
    as: (email: string) => createSandboxClient(sandbox, sandbox.token({ email })),
    /** A user as the gateway's client sees it. */
    caller: (email = 'demo@example.com') => ({ token: toToken(sandbox.token({ email })) }),
    [Symbol.asyncDispose]: () => sandbox.close(),
  };
}

/** A client of the sandbox, with or without a token. */
function createSandboxClient(sandbox: Sandbox, token: string | null) {
  const send = async (method: string, path: string, body?: unknown, extra = {}) => {
    const headers: Record<string, string> = { ...extra };
    if (token !== null) headers.authorization = `Bearer ${token}`;
    const init: RequestInit = { method, headers, redirect: 'manual' };
    if (body !== undefined) {
      headers['content-type'] = 'application/json';
      init.body = JSON.stringify(body);
    }
    const response = await fetch(sandbox.url + path, init);
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      /** The parsed body; throws if it is not JSON. */
      get body(): unknown {
        return JSON.parse(text);
      },
    };
  };
  const session = async (): Promise<WireSession> => {
    const { login } = JSON.parse(atob(token?.split('.')[1] ?? ''));
    return (await send('GET', `/trading/session/${login}`)).body as WireSession;
  };
  return {
    token,
    get: (path: string, headers?: Record<string, string>) => send('GET', path, undefined, headers),
    post: (path: string, body?: unknown) => send('POST', path, body),
    put: (path: string, body?: unknown) => send('PUT', path, body),
    /** Sends a request, with an empty object as the body if the operation has one. */
    ask(line: string) {
      const [verb = '', path = ''] = line.split(' ');
      return send(verb, path, verb === 'GET' ? undefined : {});
    },
    session,
    async positions() {
      const { body } = await send('GET', '/trading/positions');
      return (body as { positions: WirePosition[] }).positions;
    },
    orders: async (): Promise<readonly WireOrder[]> => (await session()).orders,
    /** Places an order by op 4 and returns its id. */
    async order(change: Record<string, unknown>): Promise<string> {
      const order = { symbol: 'AAPL', direction: 'buy', type: 'unit', amount: 1, ...change };
      const { body } = await send('POST', '/trading/positions', order);
      const { success, orderId } = body as { success: boolean; orderId: string };
      if (!success) throw new Error(`The order was refused: ${JSON.stringify(body)}`);
      return orderId;
    },
  };
}
