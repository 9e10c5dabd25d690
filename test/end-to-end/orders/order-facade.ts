import type { Config, Environment } from '../../../src/config.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../../src/sandbox/start.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { OrderClient } from './order-client.ts';

export interface OrderFacade extends TestApp {
  /** A device of this user, or a device with this token. */
  client(of?: { readonly email?: string; readonly token?: string | null }): OrderClient;
}

/** A facade in this process with a gateway that the test scripts. */
export async function startOrderFacade(
  environment: Environment = {},
  gateway: Sandbox | SandboxOptions = {},
  change: Partial<Config> = {},
): Promise<OrderFacade> {
  await using opened = new AsyncDisposableStack();
  const sandbox =
    'url' in gateway
      ? gateway
      : opened.use(await startSandbox({ seed: 'orders', instruments: 40, tickMs: 0, ...gateway }));
  const app = opened.use(
    await startTestApp(
      { RATE_LIMIT_PER_MINUTE: '10000000', ...environment },
      { gateway: sandbox, change },
    ),
  );
  const parts = opened.move();
  return {
    ...app,
    client({ email = 'user-1@example.com', token = sandbox.token({ email }) } = {}) {
      return parts.adopt(new OrderClient(app, token), (client) => client.close());
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
