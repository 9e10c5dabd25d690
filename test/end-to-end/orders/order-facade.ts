import { startApp } from '../../../src/app.ts';
import { type Environment, readConfig } from '../../../src/config.ts';
import { createLog } from '../../../src/lib/log.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../../src/sandbox/start.ts';
import { assertNoLeak, readMetrics } from '../../support/leaks.ts';
import { PATIENT } from '../../support/patient.ts';
import { OrderClient, type OrderServer } from './order-client.ts';

export interface OrderFacade extends OrderServer, AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly adminUrl: string;
  readonly logged: readonly string[];
  /** A device of this user, or one with this very token. */
  client(of?: { readonly email?: string; readonly token?: string | null }): OrderClient;
}

/** A facade in this process with a gateway that the test scripts. */
export async function startOrderFacade(
  environment: Environment = {},
  gateway: Sandbox | SandboxOptions = {},
): Promise<OrderFacade> {
  const isShared = 'url' in gateway;
  const sandbox = isShared
    ? gateway
    : await startSandbox({ seed: 'orders', instruments: 40, tickMs: 0, ...gateway });
  const logged: string[] = [];
  const config = readConfig({
    PORT: '0',
    ADMIN_PORT: '0',
    GATEWAY_URL: sandbox.url,
    ORDER_STORE: 'memory',
    REVISION: 'tests',
    ...PATIENT,
    RATE_LIMIT_PER_MINUTE: '10000000',
    ...environment,
  });
  const destination = { write: (line: string) => void logged.push(line) };
  const app = await startApp(config, {
    log: createLog({ level: 'debug', format: 'json', destination }),
    connections: { lingerMs: 10 },
  });
  const clients: OrderClient[] = [];
  const server = { url: app.url, webSocketUrl: `${app.url.replace('http', 'ws')}/graphql` };
  return {
    ...server,
    sandbox,
    adminUrl: app.adminUrl,
    logged,
    client({ email = 'user-1@example.com', token = sandbox.token({ email }) } = {}) {
      const client = new OrderClient(server, token);
      clients.push(client);
      return client;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(clients.map((client) => client.close()));
      const metrics = await readMetrics(app.adminUrl);
      await app.close();
      if (!isShared) await sandbox.close();
      assertNoLeak('metrics', [metrics], sandbox.requests());
      assertNoLeak('log', logged, sandbox.requests());
    },
  };
}
