import { createBaseCore, type SubscriptionsPart } from './base-core.ts';
import type { CoreClientOptions } from './core-client.ts';
import { ownMethods, type RequestsClient } from './own-methods.ts';
import { requestEnvironment } from './request-environment.ts';

/** The options of `createRequests`, as `createClient` has them. */
export type RequestsOptions = Pick<
  CoreClientOptions,
  'url' | 'token' | 'onSignedOut' | 'route' | 'login' | 'environment'
>;

export type { RequestsClient };

/** Makes a client for queries and mutations, with tokens that are renewed, and nothing else in the bundle. */
export function createRequests(options: RequestsOptions): RequestsClient {
  const environment = { ...requestEnvironment(), ...options.environment };
  return ownMethods(createBaseCore({ ...options, environment }, () => NO_SUBSCRIPTIONS));
}

/** A client without lines has this in their place. */
export const NO_SUBSCRIPTIONS: SubscriptionsPart = {
  subscribe: () => () => {},
  restart() {},
  tokenChanged() {},
  endAll() {},
  dispose() {},
};
