import { type BaseOptions, createBaseCore, type OwnCore } from './base-core.ts';
import type { Environment } from './environment.ts';
import { ServerClock } from './server-clock.ts';
import type { ClientStorage } from './storage.ts';
import { Subscriptions } from './subscribe/subscriptions.ts';

export type { OwnCore } from './base-core.ts';

export interface CoreOptions extends BaseOptions {
  readonly storage: ClientStorage | null;
  readonly environment: Environment;
}

/** The core of a client that subscribes too. */
export function createCore(options: CoreOptions): OwnCore {
  const { environment, storage } = options;
  const serverClock = new ServerClock(environment);
  const core = createBaseCore(
    { ...options, environment: { ...environment, onDate: serverClock.onDate } },
    (own) => new Subscriptions({ ...own, environment, storage }),
  );
  return Object.assign(core, { environment, storage, serverClock });
}
