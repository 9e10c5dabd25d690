import { SESSION } from '../../src/gateway/operations/get-session.ts';
import { SUBMITTED } from '../../src/gateway/operations/submitted.ts';
import type { OperationName } from '../../src/gateway/operations.ts';
import { readingIn } from '../../src/gateway/scalars.ts';
import { toToken } from '../../src/lib/limits/request-caller.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/start.ts';
import { askGateway, type OrderChange, orderBody } from '../support/ask-gateway.ts';
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
  const ask = async (
    name: OperationName,
    body?: unknown,
    path?: Readonly<Record<string, string>>,
  ) => {
    const response = await askGateway(sandbox.url, name, { token, body, path });
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
  /** The answer that shows the outcome of an order by op 4. Of a gateway that answers 202, it is that of its look-up. */
  const outcome = (change: OrderChange) => ask('openPosition', orderBody(change));
  return {
    token,
    ask,
    session,
    positions: async () => (await session()).positions,
    orders: async () => (await session()).orders,
    outcome,
    /** Places an order by op 4 and returns its id. */
    async order(change: OrderChange): Promise<string> {
      const { body } = await outcome(change);
      const read = SUBMITTED.read(body, readingIn('auto'));
      if (read?.success === false)
        throw new Error(`The order was refused: ${JSON.stringify(body)}`);
      return read?.orderId?.shown ?? '';
    },
  };
}
