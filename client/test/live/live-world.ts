import { OPEN_POSITIONS } from '../../../src/gateway/operations/get-open-positions.ts';
import { readingIn } from '../../../src/gateway/scalars.ts';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { startTestApp } from '../../../test/support/app.ts';
import { askGateway } from '../../../test/support/ask-gateway.ts';
import { eventually } from '../../../test/support/eventually.ts';
import type { Core } from '../../src/core.ts';
import { createPositions } from '../../src/live/positions.ts';
import { startCore, type TestCore } from '../support/client.ts';
import {
  type CountedEnvironmentOptions,
  countedEnvironment,
} from '../support/counted-environment.ts';
import { startCutProxy } from '../support/cut-proxy.ts';

export interface DeviceOptions {
  readonly environment?: CountedEnvironmentOptions;
}

type LiveWorld = Awaited<ReturnType<typeof startLiveWorld>>;

/** A gateway, a facade, and a network between the facade and its clients. */
export async function startLiveWorld() {
  const sandbox = await startSandbox({ seed: 'tests', tickMs: 0 });
  const cores: TestCore[] = [];
  const app = await startTestApp({ POSITIONS_POLL_MS: '100' }, { gateway: sandbox });
  const proxy = await startCutProxy(app.url);
  return {
    sandbox,
    proxy,
    /** The facade without the proxy, so that no fault of the network affects it. */
    witness: app,
    device({ environment: changed }: DeviceOptions = {}) {
      const environment = countedEnvironment(changed);
      const core = observed(startCore({ url: proxy.url, sandbox }, { environment }));
      cores.push(core);
      return { environment, core, positions: createPositions(core), dispose: () => core.dispose() };
    },
    async close() {
      for (const core of cores) core.dispose();
      await proxy.close();
      await app.close();
      await sandbox.close();
    },
  };
}

/**
 * Counts the subscriptions that a core has begun and that are open, and records the variables that were sent, also on
 * reconnects.
 */
function observed(core: TestCore) {
  const own = Object.assign(core, { begun: 0, open: 0, sent: [] as unknown[] });
  const { subscribe } = core;
  const subscribed: Core['subscribe'] = (operation, variables, sink) => {
    own.begun += 1;
    own.open += 1;
    let isOpen = true;
    const closed = () => {
      if (isOpen) own.open -= 1;
      isOpen = false;
    };
    const sent = () => {
      const present = variables();
      own.sent.push(present);
      return present;
    };
    const ended: typeof sink.ended = (error) => {
      closed();
      sink.ended(error);
    };
    const end = subscribe(operation, sent, { ...sink, ended });
    return () => {
      closed();
      end();
    };
  };
  return Object.assign(own, { subscribe: subscribed });
}

interface Listed {
  readonly id: string;
  readonly profit: unknown;
}

/** The list, read from the gateway directly. */
export async function gatewayList({
  sandbox,
}: Pick<LiveWorld, 'sandbox'>): Promise<readonly Listed[]> {
  const token = sandbox.token({ email: 'demo@example.com' });
  return eventually(async () => {
    const answer = await askGateway(sandbox.url, 'getOpenPositions', { token });
    // This request can get a fault that was meant for the client.
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    return OPEN_POSITIONS.read(await answer.json(), readingIn('auto'))?.positions ?? [];
  });
}

/** The list as a text, so that a failed comparison is short. */
export function textOf(list: readonly Listed[]): string {
  return list.map(({ id, profit }) => `${id}:${profit}`).join();
}
