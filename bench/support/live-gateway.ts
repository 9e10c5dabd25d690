import { fileURLToPath } from 'node:url';
import { freePort } from '../../test/support/free-ports.ts';
import { accepting } from './accepting.ts';
import { GATEWAY_CORE } from './cores.ts';
import { ProbedProcess } from './probed-process.ts';

export interface LiveGateway extends AsyncDisposable {
  readonly url: string;
  /** As many tokens for each of so many accounts, the accounts in turn. */
  tokens(accounts: number, each: number): Promise<string[]>;
  polls(): Promise<number>;
  tick(): Promise<void>;
}

const FIRST_LOGIN = 800_001;
const AT_ONCE = 50;

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

  return {
    url,
    async tokens(accounts, each) {
      const logins = Array.from(
        { length: accounts * each },
        (_, at) => FIRST_LOGIN + (at % accounts),
      );
      const tokens: string[] = [];
      for (let at = 0; at < logins.length; at += AT_ONCE) {
        const some = logins.slice(at, at + AT_ONCE).map(async (login) => {
          const { access_token } = (await control('POST', 'tokens', { login })) as {
            access_token: string;
          };
          return access_token;
        });
        tokens.push(...(await Promise.all(some)));
      }
      return tokens;
    },
    async polls() {
      const { operations } = (await control('GET', 'calls')) as {
        operations: { getOpenPositions?: number };
      };
      return operations.getOpenPositions ?? 0;
    },
    async tick() {
      await control('POST', 'tick', {});
    },
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}
