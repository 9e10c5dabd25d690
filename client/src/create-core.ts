import { type BaseOptions, createBaseCore, type OwnCore } from './base-core.ts';
import type { Environment } from './environment.ts';
import { ServerClock } from './server-clock.ts';
import type { ClientStorage } from './storage.ts';
import { Subscriptions } from './subscribe/subscriptions.ts';

export type { OwnCore } from './base-core.ts';

export interface CoreOptions extends BaseOptions {
  readonly storage: ClientStorage | null;
  readonly environment: Environment;
  readonly heartbeatSeconds?: number | undefined;
  readonly hiddenSeconds?: number | undefined;
}

/** The core of a client that subscribes too. */
export function createCore(options: CoreOptions): OwnCore {
  const { environment, storage, heartbeatSeconds = 15, hiddenSeconds = 30 } = options;
  const times = { heartbeatMs: heartbeatSeconds * 1_000, hiddenMs: hiddenSeconds * 1_000 };
  const serverClock = new ServerClock(environment);
  const core = createBaseCore(
    { ...options, environment: { ...environment, onDate: serverClock.onDate } },
    (own) => new Subscriptions({ ...own, ...times, environment, storage }),
  );
  return Object.assign(core, { environment, storage, serverClock, heartbeatSeconds });
}
