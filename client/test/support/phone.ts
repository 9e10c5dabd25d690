import { expect } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { startTestApp } from '../../../test/support/app.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { createOrders } from '../../src/orders/create-orders.ts';
import type { LimitOrderInput, MarketOrder, OrderInput } from '../../src/orders/order-input.ts';
import type { ClientStorage } from '../../src/storage.ts';
import { TestCore } from './client.ts';
import { type CountedEnvironmentOptions, countedEnvironment } from './counted-environment.ts';
import { createMemoryStorage } from './memory-storage.ts';
import { startOrderLine } from './order-line.ts';

const MINUTE_MS = 60_000;
const TWO_DAYS_MS = 48 * 3_600_000;

export type Phone = Awaited<ReturnType<typeof startPhone>>;

/** A device with its own network, in front of the real service and its sandbox gateway. */
export async function startPhone(environment: Readonly<Record<string, string>> = {}) {
  const app = await startTestApp({ RATE_LIMIT_PER_MINUTE: '1000000', ...environment });
  const line = await startOrderLine(() => app.url);
  const storage = createMemoryStorage();
  const cores: OrderCore[] = [];
  const phone = {
    app,
    line,
    storage,
    /** How far the phone's clock is ahead of the real one. */
    clockMs: 0,
    token: app.sandbox.token({ email: 'demo@example.com' }) as string | null,
    /** Lets time pass for the phone's clock, and for the dates of the server's answers. */
    pass(ms: number) {
      phone.clockMs += ms;
      line.aheadMs += ms;
    },
    /** Starts the app, or opens another tab of it. Each tab ends with the phone at the latest. */
    open(
      options: Partial<OrderCoreOptions> = {},
      own: OrderCoreOptions['environment'] = {},
    ): OrderCore {
      const opened = openOrderCore({
        url: line.url,
        token: () => phone.token,
        storage,
        ...options,
        environment: { now: () => systemClock.date() + phone.clockMs, ...own },
      });
      cores.push(opened);
      return opened;
    },
    /** Resolves when no order is stored: an order with an outcome stays for a second, until it counts as shown. */
    forgotten: () => eventually(() => expect(storage.entries.size).toBe(0)),
    /** Starts the app, and waits until it knows its account, so that later faults affect only orders. */
    async openKnown(
      options?: Partial<OrderCoreOptions>,
      own?: OrderCoreOptions['environment'],
    ): Promise<OrderCore> {
      const opened = phone.open(options, own);
      await opened.core.account();
      return opened;
    },
    /** Places an order whose request or answer is lost; then the user signs out for a moment. */
    async interrupt(input: OrderInput, fault: 'lost' | 'answer-lost'): Promise<void> {
      const { orders } = phone.open();
      const reached = () => (fault === 'lost' ? line.orders : line.answered);
      const before = reached();
      const { token } = phone;
      // Each repeat of the request has the same fault.
      line.next.push(...Array(1_000).fill(fault));
      // The wait is longer than the life of a key, so that a test can make the key too old before the ticket expires.
      const placing = orders.ticket({ maxWaitMs: TWO_DAYS_MS }).place(input);
      await eventually(() => expect(reached()).toBeGreaterThan(before));
      phone.token = null;
      expect(await placing).toMatchObject(unknown('SIGNED_OUT'));
      phone.token = token;
      line.next.length = 0;
    },
    async [Symbol.asyncDispose]() {
      for (const { core } of cores) core.dispose();
      await line[Symbol.asyncDispose]();
      await app.close();
    },
  };
  return phone;
}

interface OrderCoreOptions {
  readonly url: string;
  /** The token of the signed-in user; null if there is none. */
  readonly token: () => string | null;
  readonly storage?: ClientStorage | null;
  readonly environment?: CountedEnvironmentOptions;
}

type OrderCore = ReturnType<typeof openOrderCore>;

/** The client's core with its orders. `sent` records its requests about orders. */
export function openOrderCore(options: OrderCoreOptions) {
  const { url, token, storage = null, environment: changed = {} } = options;
  /** The variables of each request about an order that `fetch` sent: to place or void it, or to ask for its outcome. */
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
  const core = new TestCore({
    url: `${url}/graphql`,
    token,
    storage,
    onSignedOut: () => {},
    environment,
  });
  return { core, orders: createOrders(core), timers: environment.timers, sent };
}

/** Options for an order whose minute ends when its request with this number is answered or lost. */
export function minuteOf(phone: Phone, requests: number) {
  let sent = 0;
  const fetching: typeof fetch = async (input, init) => {
    if (!/order: (?:place|void)/.test(String(init?.body))) return fetch(input, init);
    sent += 1;
    const isLast = sent === requests;
    return fetch(input, init).finally(() => {
      if (isLast) phone.clockMs += MINUTE_MS;
    });
  };
  return {
    environment: { fetch: fetching },
    ticket: { maxWaitMs: 2 * MINUTE_MS },
    withinMs: MINUTE_MS,
  };
}

/** Removes the server's time from each answer. */
export const undatedFetch: typeof fetch = async (input, init) => {
  const answer = await fetch(input, init);
  return new Response(await answer.text(), { status: answer.status });
};

/** A market order for one share, with a comment that identifies it in the gateway's ledger. */
export function buying(comment: string, symbol = 'AAPL'): MarketOrder {
  return { symbol, side: 'BUY', kind: 'MARKET', size: { units: 1 }, comment };
}

/** A limit order that waits, far below the market. */
export const LIMIT: LimitOrderInput = {
  symbol: 'AAPL',
  side: 'BUY',
  amount: 50,
  price: 10,
  comment: 'limit',
};

/** Expected outcomes. */
export const ACCEPTED = { status: 'accepted' } as const;
export const unsent = (code: string, details = {}) => ({
  status: 'unsent',
  error: { code, ...details },
});
export const unknown = (code: string, details = {}) => ({
  status: 'unknown',
  error: { code, ...details },
});
