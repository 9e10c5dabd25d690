import { startSandbox } from '../../../sandbox/start.ts';
import { startTestApp } from '../../../test/support/app.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { createAccount } from '../../src/live/account.ts';
import type { LiveFields } from '../../src/live/chosen-fields.ts';
import type { FollowOptions } from '../../src/live/followed.ts';
import type { OfflineAccount } from '../../src/live/kept-state.ts';
import { createPositions, type Positions } from '../../src/live/positions.ts';
import type { PositionsState } from '../../src/live/states.ts';
import type { TokenSource } from '../../src/request/tokens.ts';
import type { ClientStorage } from '../../src/storage.ts';
import {
  type CountedEnvironmentOptions,
  countedEnvironment,
} from '../support/counted-environment.ts';
import { startCutProxy } from '../support/cut-proxy.ts';
import { createObservedCore, type ObservedCore } from './observed-core.ts';

export const POLL_MS = 100;

export interface DeviceOptions {
  readonly token?: TokenSource;
  readonly environment?: CountedEnvironmentOptions;
  readonly storage?: ClientStorage;
  readonly offlineAccount?: OfflineAccount;
  readonly positionFields?: LiveFields['positionFields'];
}

export type LiveWorld = Awaited<ReturnType<typeof startLiveWorld>>;
export type Device = ReturnType<LiveWorld['device']>;

/** A gateway, a facade that can be restarted, and a network between it and its clients. */
export async function startLiveWorld(settings: Readonly<Record<string, string>> = {}) {
  const sandbox = await startSandbox({ seed: 'tests', tickMs: 0 });
  const cores: ObservedCore[] = [];
  const start = () =>
    startTestApp({ POSITIONS_POLL_MS: String(POLL_MS), ...settings }, { gateway: sandbox });
  const [first, witness] = await Promise.all([start(), start()]);
  let app = first;
  const proxy = await startCutProxy(app.url);
  return {
    sandbox,
    proxy,
    /** A facade that no fault reaches, and in which nobody follows anything. */
    witness,
    /** Ends the facade, its feeds and cursors, and starts another. */
    async restart() {
      const before = app;
      app = await start();
      proxy.lead(app.url);
      proxy.cut();
      await before.close();
    },
    device({
      token = () => sandbox.token({ email: 'demo@example.com' }),
      environment: changed,
      storage,
      ...fields
    }: DeviceOptions = {}) {
      const environment = countedEnvironment(changed);
      const core = createObservedCore({
        url: `${proxy.url}/graphql`,
        token,
        environment,
        storage: storage ?? null,
        route: false,
        onSignedOut: () => {},
      });
      cores.push(core);
      return {
        environment,
        core,
        positions: createPositions(core),
        account: createAccount(core, fields),
        dispose: () => core.dispose(),
      };
    },
    async [Symbol.asyncDispose]() {
      for (const core of cores) core.dispose();
      await proxy.close();
      await Promise.all([app.close(), witness.close()]);
      await sandbox.close();
    },
  };
}

/** Listens from its making on, and keeps all that it was told. */
export class Audience {
  readonly states: PositionsState[] = [];
  readonly end: () => void;

  constructor(positions: Positions, options?: FollowOptions) {
    this.end = positions((state) => void this.states.push(state), options);
  }

  get last(): PositionsState | undefined {
    return this.states.at(-1);
  }

  get isLive(): boolean {
    return this.last?.status === 'LIVE';
  }
}

/** The list of the gateway's own. */
export async function gatewayList(
  { witness, sandbox }: Pick<LiveWorld, 'witness' | 'sandbox'>,
  email = 'demo@example.com',
): Promise<readonly { readonly id: string; readonly profit: number }[]> {
  return eventually(async () => {
    const { data } = await witness.query('{ positions { id profit priceCurrent } }', {
      token: sandbox.token({ email }),
    });
    // The witness may meet a fault that was meant for the client.
    return data.positions ?? false;
  });
}

export function prints(list: readonly { readonly id: string; readonly profit: unknown }[]): string {
  return list.map(({ id, profit }) => `${id}:${profit}`).join();
}
