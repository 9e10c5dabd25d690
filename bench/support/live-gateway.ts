import { fileURLToPath } from 'node:url';
import { systemClock } from '../../lib/clock.ts';
import { createTokens } from '../../sandbox/tokens.ts';
import { findUserByEmail } from '../../sandbox/users.ts';
import { GATEWAY_CORE } from './cores.ts';
import { ProbedProcess } from './probed-process.ts';

export interface Order {
  readonly symbol: string;
  readonly type: 'unit' | 'amount';
  readonly amount: number;
  readonly price?: number;
}

export type LiveGateway = Awaited<ReturnType<typeof startLiveGateway>>;

const SECRET = 'bench';

/** The sandbox gateway in a process of its own. Its market moves on demand, or at an interval too. */
export async function startLiveGateway({ instruments = 500, tickMs = 0 } = {}) {
  const child = await ProbedProcess.listening({
    script: fileURLToPath(new URL('sandbox-process.ts', import.meta.url)),
    core: GATEWAY_CORE,
    environment: { INSTRUMENTS: String(instruments), TICK_MS: String(tickMs), SECRET },
  });
  const url = `http://127.0.0.1:${child.port}`;

  async function ask(path: string, body?: object, headers = {}): Promise<unknown> {
    const sent = body && { method: 'POST', body: JSON.stringify(body), headers };
    const answer = await fetch(url + path, sent);
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    return answer.json();
  }

  return {
    url,
    token,
    /** As many tokens for each of so many accounts, the accounts in turn. */
    tokens: (accounts: number, each: number) =>
      Array.from({ length: accounts * each }, (_, at) => token(1 + (at % accounts))),
    /** Buys, past any subject. */
    async buy(token: string, order: Order) {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const reply = await ask('/trading/positions', { ...order, direction: 'buy' }, headers);
      if (!Object(reply).success) throw new Error(`refused: ${JSON.stringify(reply)}`);
    },
    /** How often each operation was called so far. */
    async calls(): Promise<Readonly<Record<string, number>>> {
      return Object(await ask('/sandbox/calls')).operations;
    },
    tick: async () => void (await ask('/sandbox/tick', {})),
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

/** A new one of the account `user-<n>@example.com`. */
function token(account: number): string {
  const user = findUserByEmail(`user-${account}@example.com`);
  if (user === null) throw new Error(`there is no account ${account}`);
  return MINT.mint({ subject: user.id, login: user.login, group: user.group });
}
