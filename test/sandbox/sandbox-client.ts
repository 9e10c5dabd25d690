import { firstCallOf } from '../../src/gateway/operation-traits.ts';
import { TOKEN_HEADER, tokenHeader } from '../../src/gateway/operations/conventions.ts';
import { SESSION } from '../../src/gateway/operations/get-session.ts';
import { MARKET_ORDER } from '../../src/gateway/operations/open-position.ts';
import { SUBMITTED } from '../../src/gateway/operations/submitted.ts';
import { OPERATIONS, type OperationName } from '../../src/gateway/operations.ts';
import { readingIn } from '../../src/gateway/scalars.ts';
import { toToken } from '../../src/lib/limits/request-caller.ts';
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

type OrderChange = Partial<Parameters<typeof MARKET_ORDER.toWire>[0]>;

/** The body of op 4 for one share, with changes by the table's names. */
export function orderBody(change: OrderChange = {}) {
  const order = { symbol: 'AAPL', direction: 'buy', type: 'unit', amount: 1 } as const;
  return MARKET_ORDER.toWire({ ...order, ...change });
}

const OF_DEMO = { login: '700001', group: 'standard-usd', provider: 'mobile-wallet', key: 'key' };

/** A client of the sandbox, with or without a token. Its methods, paths and names are those of the operations' tables. */
function createSandboxClient(sandbox: Sandbox, token: string | null) {
  /** Sends an operation's first call; by default with the path of the demo user, and an empty body. */
  const ask = async (
    name: OperationName,
    body: unknown = {},
    path: Readonly<Record<string, string>> = {},
  ) => {
    const { method, path: template } = firstCallOf(OPERATIONS[name]);
    const values: Readonly<Record<string, string>> = { ...OF_DEMO, ...path };
    const named = template.replaceAll(/\{(\w+)\}/g, (_, key) =>
      encodeURIComponent(values[key] ?? ''),
    );
    const response = await fetch(sandbox.url + named, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(token !== null && { [TOKEN_HEADER]: tokenHeader(token) }),
      },
      ...(method !== 'GET' && { body: JSON.stringify(body) }),
    });
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
  const session = async () => {
    const { login } = JSON.parse(atob(token?.split('.')[1] ?? ''));
    const { body } = await ask('getSession', undefined, { login: String(login) });
    const read = SESSION.read(body, readingIn('auto'));
    if (read === null) throw new Error('The sandbox answered no session');
    return read;
  };
  return {
    token,
    ask,
    session,
    positions: async () => (await session()).positions,
    orders: async () => (await session()).orders,
    /** Places an order by op 4 and returns its id. */
    async order(change: OrderChange): Promise<string> {
      const { body } = await ask('openPosition', orderBody(change));
      const read = SUBMITTED.read(body, readingIn('auto'));
      if (!read?.success) throw new Error(`The order was refused: ${JSON.stringify(body)}`);
      return read.orderId?.shown ?? '';
    },
  };
}
