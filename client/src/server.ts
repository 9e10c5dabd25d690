import { browserEnvironment } from './browser-environment.ts';
import { ClientCore } from './client-core.ts';
import type { CoreClientOptions } from './core-client.ts';
import type { Environment } from './environment.ts';
import { createOrders, type Orders } from './orders/create-orders.ts';
import { ownMethods, type RequestsClient } from './own-methods.ts';
import { createFormOrders, type FormOrders } from './server/form-orders.ts';
import { ServerClock } from './server-clock.ts';

export type {
  FormOptions,
  FormOrders,
  FormPage,
  FormValues,
} from './server/form-orders.ts';

/** The options of `forRequest`, as `createClient` has them. */
export type ServerOptions = Pick<CoreClientOptions, 'url' | 'environment'>;

/** A client for one request that a server answers. */
export interface ServerClient extends Pick<RequestsClient, 'query' | 'mutate' | 'dispose'> {
  /** Orders that are placed once. Their keys are not stored. */
  readonly orders: Orders;
  /** The order of a form, which is placed once however often the form is posted. */
  readonly form: FormOrders;
}

/**
 * Makes a client for one request that a server answers. The token is that of the request's user; null for no user. The
 * client has queries, mutations and orders, which no cache keeps. Its methods for live data throw, because only a browser
 * can follow live data. Unlike other clients it rejects with an error that a framework throws from `fetch` to render later.
 * It opens nothing until it is used.
 */
export function forRequest(token: string | null, options: ServerOptions): ServerClient {
  const platform = { ...browserEnvironment(), ...options.environment } as Environment;
  const postponed = new AbortController();
  let thrownByFramework: unknown = null;
  const fetching = async (url: string, init?: RequestInit) => {
    try {
      return await (platform.fetch as typeof fetch)(url, { ...init, cache: 'no-store' });
    } catch (thrown) {
      // Next.js marks such an error by its `digest`.
      if (typeof Object(thrown).digest === 'string') {
        thrownByFramework = thrown;
        postponed.abort();
      }
      throw thrown;
    }
  };
  const environment = { ...platform, WebSocket: null, fetch: fetching as typeof fetch };
  const core = new ClientCore(
    { ...options, token: ({ force }) => (force ? null : token), environment },
    { serverClock: (own) => new ServerClock(own) },
  );
  const { request } = core;
  core.request = async (operation, variables, own) => {
    const signal = own?.signal ? AbortSignal.any([own.signal, postponed.signal]) : postponed.signal;
    const result = await request(operation, variables, { token, ...own, signal });
    if (thrownByFramework !== null) throw thrownByFramework;
    return result;
  };
  const { query, mutate, dispose } = ownMethods(core);
  const live = () => {
    throw new Error('A server cannot follow live data. Use `createClient` in the browser.');
  };
  const orders = createOrders(core);
  const own: ServerClient = {
    query,
    mutate,
    dispose,
    orders,
    form: createFormOrders(core, orders),
  };
  return Object.assign(own, { subscribe: live, positions: live, account: live });
}
