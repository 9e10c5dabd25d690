import { createBaseCore } from './base-core.ts';
import { coreOptions } from './core-options.ts';
import type { Client, ClientOptions } from './create-client.ts';
import { ownMethods } from './own-methods.ts';

/** The options of `createRequests`, as `createClient` has them. */
export type RequestsOptions = Pick<
  ClientOptions,
  'url' | 'token' | 'onSignedOut' | 'route' | 'environment'
>;

/** A client for queries and mutations, with tokens that are renewed, and nothing else in the bundle. */
export type RequestsClient = Omit<
  Client,
  'subscribe' | 'positions' | 'account' | 'orders' | 'catalog'
>;

export function createRequests(options: RequestsOptions): RequestsClient {
  return ownMethods(createBaseCore(coreOptions(options), () => NO_SUBSCRIPTIONS));
}

const NO_SUBSCRIPTIONS = {
  subscribe: () => () => {},
  restart() {},
  reconnect() {},
  endAll() {},
  dispose() {},
};
