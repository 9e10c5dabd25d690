import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/lib/clock.ts';
import { createTokens } from '../../src/sandbox/tokens.ts';
import { findUserByEmail } from '../../src/sandbox/users.ts';
import { GATEWAY_CORE } from './cores.ts';
import { ProbedProcess } from './probed-process.ts';

export type LiveGateway = Awaited<ReturnType<typeof startLiveGateway>>;

const SECRET = 'bench';

/** The sandbox gateway in a process of its own. Its market moves on demand. */
export async function startLiveGateway() {
  const child = await ProbedProcess.listening({
    script: fileURLToPath(new URL('sandbox-process.ts', import.meta.url)),
    core: GATEWAY_CORE,
    environment: { SECRET },
  });
  const url = `http://127.0.0.1:${child.port}`;

  return {
    url,
    /** As many tokens for each of so many accounts, the accounts in turn. */
    tokens: (accounts: number, each: number) =>
      Array.from({ length: accounts * each }, (_, at) => token(1 + (at % accounts))),
    async tick(): Promise<void> {
      const answer = await fetch(`${url}/sandbox/tick`, { method: 'POST', body: '{}' });
      if (!answer.ok) throw new Error(`no tick: ${await answer.text()}`);
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

/** A new one of the account `user-<n>@example.com`. */
function token(account: number): string {
  const user = findUserByEmail(`user-${account}@example.com`);
  if (user === null) throw new Error(`there is no account ${account}`);
  return MINT.mint({ subject: user.id, login: user.login, group: user.group });
}
