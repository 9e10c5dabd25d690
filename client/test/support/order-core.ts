import { createCore, type OwnCore } from '../../src/create-core.ts';
import { createOrders, type Orders } from '../../src/orders/create-orders.ts';
import type { ClientStorage } from '../../src/storage.ts';
import { type CountedEnvironmentOptions, countedEnvironment } from './counted-environment.ts';

export interface OrderCoreOptions {
  readonly url: string;
  /** The token of the user who is signed in; null where nobody is. */
  readonly token: () => string | null;
  /** Called where a token was refused. */
  readonly renew?: () => void;
  readonly storage?: ClientStorage | null;
  readonly environment?: CountedEnvironmentOptions;
}

export interface OrderCore {
  readonly core: OwnCore;
  readonly orders: Orders;
  /** The timers that are set. */
  readonly timers: ReadonlySet<object>;
  /** The variables of each order, and of each question about one, as they were sent by `fetch`. */
  readonly sent: readonly unknown[];
}

/** The client's core, whose requests about orders are recorded. */
export function openOrderCore(options: OrderCoreOptions): OrderCore {
  const { url, token, storage = null, renew, environment: changed = {} } = options;
  const sent: unknown[] = [];
  const send = changed.fetch ?? globalThis.fetch;
  const environment = countedEnvironment({
    ...changed,
    fetch: (input, init) => {
      const { query, variables } = JSON.parse(String(init?.body));
      if (/order: (?:place|void)/.test(query)) sent.push(variables);
      return send(input, init);
    },
  });
  const core = createCore({
    url: `${url}/graphql`,
    token: ({ force }) => {
      if (force) renew?.();
      return token();
    },
    storage,
    onSignedOut: () => {},
    route: false,
    environment,
  });
  return { core, orders: createOrders(core), timers: environment.timers, sent };
}
