import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/lib/clock.ts';
import { createTokens } from '../../src/sandbox/tokens.ts';
import { findUserByEmail } from '../../src/sandbox/users.ts';
import { freePort } from '../../test/support/free-ports.ts';
import { accepting } from './accepting.ts';
import { GATEWAY_CORE } from './cores.ts';
import { ProbedProcess } from './probed-process.ts';

export interface LiveGateway extends AsyncDisposable {
  readonly url: string;
  /** A new one of the account `user-<n>@example.com`. */
  token(account: number): string;
  /** As many tokens for each of so many accounts, the accounts in turn. */
  tokens(accounts: number, each: number): string[];
  /** How often each operation was called so far. */
  calls(): Promise<Readonly<Record<string, number>>>;
  tick(): Promise<void>;
}

const SECRET = 'bench';

export interface LiveGatewayOptions {
  readonly instruments?: number;
  /** The interval at which the market moves by itself; 0: only on demand. */
  readonly tickMs?: number;
}

/** The sandbox gateway in a process of its own, with a market that moves on demand. */
export async function startLiveGateway({
  instruments = 500,
  tickMs = 0,
}: LiveGatewayOptions = {}): Promise<LiveGateway> {
  const port = await freePort();
  const child = new ProbedProcess({
    script: fileURLToPath(new URL('sandbox-process.ts', import.meta.url)),
    core: GATEWAY_CORE,
    environment: {
      PORT: String(port),
      INSTRUMENTS: String(instruments),
      TICK_MS: String(tickMs),
      SECRET,
    },
  });
  await accepting(child, port);
  const url = `http://127.0.0.1:${port}`;

  async function control(method: string, path: string, body?: object): Promise<unknown> {
    const answer = await fetch(`${url}/sandbox/${path}`, {
      method,
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    return answer.json();
  }

  const calls = async () =>
    ((await control('GET', 'calls')) as { operations: Record<string, number> }).operations;

  return {
    url,
    token,
    tokens: (accounts, each) =>
      Array.from({ length: accounts * each }, (_, at) => token(1 + (at % accounts))),
    calls,
    async tick() {
      await control('POST', 'tick', {});
    },
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

const MINT = createTokens({
  secret: SECRET,
  ttlSeconds: 28_800,
  loginClaim: 'login',
  groupClaim: 'group',
  clock: systemClock,
});

function token(account: number): string {
  const user = findUserByEmail(`user-${account}@example.com`);
  if (user === null) throw new Error(`there is no account ${account}`);
  return MINT.mint({ subject: user.id, login: user.login, group: user.group });
}
