import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { freePort } from '../../../test/support/free-ports.ts';
import { accepting } from '../accepting.ts';
import { CONTESTANT_CORE } from '../cores.ts';
import { ProbedProcess } from '../probed-process.ts';
import { bodyOf, headersOf } from './hostile-client.ts';
import type { HostileGateway } from './hostile-gateway.ts';

export interface HostileFacade extends AsyncDisposable {
  readonly process: ProbedProcess;
  readonly port: number;
  /** An answer's data, or null where there is none. */
  read(document: string): Promise<unknown>;
}

export type Settings = Readonly<Record<string, string>>;

const SCRIPT = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
/** Sent once by every account, so that tokens are proved, and catalog and code are cached. */
const WARM = '{ catalog { size } session { login } positions { id } orders { id } }';

/** The built program with its own defaults but for these settings, warm. */
export async function startHostileFacade(
  gateway: HostileGateway,
  settings: Settings,
  script = SCRIPT,
): Promise<HostileFacade> {
  const port = await freePort();
  const child = new ProbedProcess({
    script,
    core: CONTESTANT_CORE,
    nodeFlags: ['--max-old-space-size=2048'],
    environment: {
      NODE_ENV: 'production',
      PORT: String(port),
      ADMIN_PORT: '0',
      ORDER_STORE: 'memory',
      LOG_LEVEL: 'error',
      GATEWAY_URL: gateway.url,
      ...settings,
    },
  });
  await accepting(child, port);
  const ask = async (token: string, text: string) => {
    const { statusCode, body } = await request(`http://127.0.0.1:${port}/graphql`, {
      method: 'POST',
      headers: headersOf(token),
      body: bodyOf({ text, variables: {} }),
    });
    const reply = await body.text();
    if (reply === '') throw new Error(`status ${statusCode} without a body`);
    return (JSON.parse(reply) as { data?: unknown }).data ?? null;
  };
  for (const token of [gateway.hostile, ...gateway.bystanders]) {
    if ((await ask(token, WARM)) === null) throw new Error(`the facade refuses ${WARM}`);
  }
  return {
    process: child,
    port,
    read: (document) => ask(gateway.hostile, document),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}
