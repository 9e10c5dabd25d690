import { type BaseOptions, createBaseCore, type OwnCore } from './base-core.ts';
import type { Environment } from './environment.ts';
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
  const core = createBaseCore(
    options,
    (own) => new Subscriptions({ ...own, environment, storage }),
  );
  return Object.assign(core, { environment, storage });
}
