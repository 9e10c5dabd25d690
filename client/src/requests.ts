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

/** Makes a client that has only queries and mutations, and renews tokens. A bundle contains nothing else. */
export function createRequests(options: RequestsOptions): RequestsClient {
  const lifecycle = {
    get isOnline() {
      return isOnline();
    },
  };
  // The functions that only live connections and orders need are left out.
  const environment = { ...platformFunctions(), lifecycle, ...options.environment } as Environment;
  return ownMethods(new ClientCore({ ...options, environment }, PARTS));
}

const PARTS: CoreParts = {
  serverClock: () => ({ now: () => null, isBehind: false, doubtMs: 0, onDate() {}, onDead() {} }),
};
