import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/start.ts';
import type { WireOrder, WirePosition, WireSession } from '../../src/sandbox/wire-types.ts';
import { createScriptedClock } from '../support/scripted-clock.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; throws where it is no JSON. */
  readonly body: unknown;
}

/** A client of the sandbox with a token, or with none. */
export interface SandboxClient {
  readonly token: string | null;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  post(path: string, body?: unknown): Promise<Answer>;
  put(path: string, body?: unknown): Promise<Answer>;
  session(): Promise<WireSession>;
  positions(): Promise<WirePosition[]>;
  orders(): Promise<readonly WireOrder[]>;
  /** Places an order by op 4 and gives its id. */
  order(body: Record<string, unknown>): Promise<string>;
}

/** A sandbox whose market and clock stand still until the test moves them. */
export async function openSandbox(options: SandboxOptions = {}) {
  const clock = createScriptedClock();
  const sandbox = await startSandbox({ tickMs: 0, clock, seed: 'test', ...options });
  return {
    sandbox,
    clock,
    anonymous: createSandboxClient(sandbox, null, 0),
    as: (email: string) =>
      createSandboxClient(sandbox, sandbox.token({ email }), LOGINS[email] ?? 0),
    [Symbol.asyncDispose]: () => sandbox.close(),
  };
}

const LOGINS: Readonly<Record<string, number>> = {
  'demo@example.com': 700001,
  'pro@example.com': 700002,
  'fresh@example.com': 700003,
  'restricted@example.com': 700005,
};

function createSandboxClient(sandbox: Sandbox, token: string | null, login: number): SandboxClient {
  const send = async (method: string, path: string, body?: unknown, extra = {}) => {
    const headers: Record<string, string> = { ...extra };
    if (token !== null) headers.authorization = `Bearer ${token}`;
    const init: RequestInit = { method, headers, redirect: 'manual' };
    if (body !== undefined) {
      headers['content-type'] = 'application/json';
      init.body = typeof body === 'string' ? body : JSON.stringify(body);
    }
    const response = await fetch(sandbox.url + path, init);
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      get body(): unknown {
        return JSON.parse(text);
      },
    };
  };
  const session = async () => {
    const answer = await send('GET', `/trading/session/${login}`);
    return answer.body as WireSession;
  };
  return {
    token,
    get: (path, headers) => send('GET', path, undefined, headers),
    post: (path, body) => send('POST', path, body),
    put: (path, body) => send('PUT', path, body),
    session,
    positions: async () => {
      const answer = await send('GET', '/trading/positions');
      return (answer.body as { positions: WirePosition[] }).positions;
    },
    orders: async () => (await session()).orders,
    order: async (body) => {
      const { body: result } = await send('POST', '/trading/positions', {
        symbol: 'AAPL',
        direction: 'buy',
        type: 'unit',
        amount: 1,
        ...body,
      });
      const { success, orderId } = result as { success: boolean; orderId: string };
      if (!success) throw new Error(`The order was refused: ${JSON.stringify(result)}`);
      return orderId;
    },
  };
}
