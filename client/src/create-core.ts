import { type CoreOptions, createBaseCore, type OwnCore } from './base-core.ts';
import { Subscriptions } from './subscribe/subscriptions.ts';

export type { CoreOptions, OwnCore } from './base-core.ts';

/** The core of a client that subscribes too. */
export function createCore(options: CoreOptions): OwnCore {
  return createBaseCore(options, (own) => new Subscriptions(own));
}
