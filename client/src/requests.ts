import { createBaseCore } from './base-core.ts';
import { baseOptions } from './core-options.ts';
import type { Client, ClientOptions } from './create-client.ts';
import { ownMethods } from './own-methods.ts';
import { requestEnvironment } from './request-environment.ts';

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
  const environment = { ...requestEnvironment(), ...options.environment };
  const core = createBaseCore({ ...baseOptions(options), environment }, () => NO_SUBSCRIPTIONS);
  return ownMethods(core);
}

const NO_SUBSCRIPTIONS = {
  subscribe: () => () => {},
  restart() {},
  endAll() {},
  dispose() {},
};
