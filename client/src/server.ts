import { createBaseCore } from './base-core.ts';
import { browserEnvironment } from './browser-environment.ts';
import type { Core } from './core.ts';
import type { CoreClientOptions } from './core-client.ts';
import { createOrders, type Orders } from './orders/create-orders.ts';
import { ownMethods, type RequestsClient } from './own-methods.ts';
import { NO_SUBSCRIPTIONS } from './requests.ts';
import { ServerClock } from './server-clock.ts';

/** The options of `forRequest`, as `createClient` has them. */
export type ServerOptions = Pick<CoreClientOptions, 'url' | 'route' | 'environment'>;

/** A client of one request that a server answers. */
export interface ServerClient extends Pick<RequestsClient, 'query' | 'mutate' | 'dispose'> {
  /** Orders that are placed once. Their keys are kept nowhere. */
  readonly orders: Orders;
}

/**
 * Makes the client of one request that a server answers, for the user whose token it is; null for none. It has queries,
 * mutations and orders, which no cache keeps, and no lines: what is live throws, and is followed in the browser. Unlike other
 * clients it rejects with what a framework throws from `fetch` to render later. It opens nothing until it is used.
 */
export function forRequest(token: string | null, options: ServerOptions): ServerClient {
  const platform = { ...browserEnvironment(), ...options.environment };
  const later = new AbortController();
  let thrownByFramework: unknown = null;
  const environment = {
    ...platform,
    WebSocket: null,
    fetch: (async (url: string, init?: RequestInit) => {
      try {
        return await (platform.fetch as typeof fetch)(url, { ...init, cache: 'no-store' });
      } catch (thrown) {
        if (typeof Object(thrown).digest === 'string') {
          thrownByFramework = thrown;
          later.abort();
        }
        throw thrown;
      }
    }) as typeof fetch,
  };
  const serverClock = new ServerClock(environment);
  const dated = { ...environment, onDate: serverClock.onDate };
  const base = createBaseCore(
    { ...options, token: ({ force }) => (force ? null : token), environment: dated },
    () => NO_SUBSCRIPTIONS,
  );
  const core: typeof base & Core = Object.assign(base, {
    environment,
    storage: null,
    serverClock,
    heartbeatSeconds: 15,
    expectLogin() {},
  });
  const { request } = base;
  core.request = async (operation, variables, own) => {
    const signal = own?.signal ? AbortSignal.any([own.signal, later.signal]) : later.signal;
    const result = await request(operation, variables, { token, ...own, signal });
    if (thrownByFramework !== null) throw thrownByFramework;
    return result;
  };
  const { query, mutate, dispose } = ownMethods(core);
  const live = () => {
    throw new Error('A server follows nothing live: do it in the browser, by `createClient`.');
  };
  const own: ServerClient = { query, mutate, dispose, orders: createOrders(core) };
  return Object.assign(own, { subscribe: live, positions: live, account: live, live });
}
