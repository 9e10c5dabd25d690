import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SandboxOptions, startSandbox } from '../../../sandbox/start.ts';
import type { Environment } from '../../../src/config.ts';
import { startFacadeProcess } from '../../support/facade-process.ts';
import { OrderClient } from './order-client.ts';

/** The program in a process of its own, with a file of order records, a gateway and a client. */
export async function startOrderProcess(gateway: SandboxOptions, environment: Environment = {}) {
  await using opened = new AsyncDisposableStack();
  const folder = opened.use(await mkdtempDisposable(join(tmpdir(), 'trading-graph-')));
  const sandbox = opened.use(await startSandbox({ tickMs: 0, instruments: 40, ...gateway }));
  const facade = opened.use(
    await startFacadeProcess({
      GATEWAY_URL: sandbox.url,
      ORDER_STORE: join(folder.path, 'orders.db'),
      ...environment,
    }),
  );
  const token = sandbox.token({ email: 'user-1@example.com' });
  const client = opened.adopt(new OrderClient(facade, token), (each) => each.close());
  const parts = opened.move();
  return { sandbox, facade, client, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}
