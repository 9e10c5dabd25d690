import { ClientCore, type CoreParts } from './client-core.ts';
import type { CoreClientOptions } from './core-client.ts';
import type { Environment } from './environment.ts';
import { ownMethods, type RequestsClient } from './own-methods.ts';
import { isOnline, platformFunctions } from './platform-functions.ts';

/** The options of `createRequests`, as `createClient` has them. */
export type RequestsOptions = Pick<
  CoreClientOptions,
  'url' | 'token' | 'onSignedOut' | 'environment'
>;

export type { RequestsClient };

/** Makes a client for queries and mutations, with tokens that are renewed, and nothing else in the bundle. */
export function createRequests(options: RequestsOptions): RequestsClient {
  const lifecycle = {
    get isOnline() {
      return isOnline();
    },
  };
  // Left out is what only live connections and orders need.
  const environment = { ...platformFunctions(), lifecycle, ...options.environment } as Environment;
  return ownMethods(new ClientCore({ ...options, environment }, PARTS));
}

const PARTS: CoreParts = {
  serverClock: () => ({ now: () => null, isBehind: false, doubtMs: 0, onDate() {}, onDead() {} }),
};
