import { expect } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { eventually } from '../../../test/support/eventually.ts';
import type { LimitOrderInput, OrderInput } from '../../src/orders/order-input.ts';
import type { Ticket } from '../../src/orders/ticket.ts';
import { createMemoryStorage, type MemoryStorage } from './memory-storage.ts';
import { type OrderCore, type OrderCoreOptions, openOrderCore } from './order-core.ts';
import { type OrderLine, startOrderLine } from './order-line.ts';

/**
 * The records of a server that has just begun say nothing of keys from before. Its dates are so far ahead that its clients take
 * their keys, and allow for what they do not know, to be younger.
 */
const AHEAD_MS = 3_100;
const MINUTE_MS = 60_000;
const TWO_DAYS_MS = 48 * 3_600_000;

export interface Phone extends AsyncDisposable {
  readonly app: TestApp;
  readonly line: OrderLine;
  readonly storage: MemoryStorage;
  /** Its clock is this much ahead of the real one. */
  clockMs: number;
  /** So much time passes: for its clock, and for the dates of the server's answers. */
  pass(ms: number): void;
  token: string | null;
  signIn(email: string): void;
  /** A run of the app, or a tab; each ends with the phone at the latest. */
  open(
    options?: Partial<OrderCoreOptions>,
    environment?: OrderCoreOptions['environment'],
  ): OrderCore;
  /** The same, once it knows its account: what goes wrong from then on meets orders alone. */
  openKnown(...options: Parameters<Phone['open']>): Promise<OrderCore>;
  /** Places an order whose request or answer is lost; then the user signs out for a moment. */
  interrupt(input: OrderInput, fault: 'lost' | 'answer-lost', app?: OrderCore): Promise<Ticket>;
  /** Ends a run of the app that places an order, whose requests are lost or stay on a dead line; the answer is its key. */
  killPlacing(input: OrderInput, options?: KilledOptions): Promise<string>;
}

export interface KilledOptions {
  readonly fault?: 'lost' | 'dead';
  readonly maxWaitMs?: number;
}

/** One device with a network of its own, before the real service and its sandbox gateway. */
export async function startPhone(
  environment: Readonly<Record<string, string>> = {},
): Promise<Phone> {
  const app = await startTestApp({ RATE_LIMIT_PER_MINUTE: '1000000', ...environment });
  const line = await startOrderLine(() => app.url);
  line.aheadMs = AHEAD_MS;
  const storage = createMemoryStorage();
  const cores: OrderCore[] = [];
  const phone: Phone = {
    app,
    line,
    storage,
    clockMs: 0,
    token: null,
    pass(ms) {
      phone.clockMs += ms;
      line.aheadMs += ms;
    },
    signIn: (email) => {
      phone.token = app.sandbox.token({ email });
    },
    open(options = {}, own = {}) {
      const opened = openOrderCore({
        url: line.url,
        token: () => phone.token,
        storage,
        ...options,
        environment: { now: () => systemClock.now() + phone.clockMs, ...own },
      });
      cores.push(opened);
      return opened;
    },
    async openKnown(...options) {
      const opened = phone.open(...options);
      await opened.core.account();
      return opened;
    },
    async interrupt(input, fault, { orders } = phone.open()) {
      const reached = () => (fault === 'lost' ? line.orders : line.answered);
      const before = reached();
      const { token } = phone;
      line.next.push(...Array(1_000).fill(fault));
      // Longer than the server keeps a key, so that the key's age alone decides whether it may be sent again.
      const ticket = orders.ticket({ maxWaitMs: TWO_DAYS_MS });
      const placing = ticket.place(input);
      await eventually(() => reached() > before);
      phone.token = null;
      expect(await placing).toMatchObject(unknown('SIGNED_OUT'));
      phone.token = token;
      line.next.length = 0;
      return ticket;
    },
    async killPlacing(input, { fault = 'lost', ...options } = {}) {
      const { orders, core } = await phone.openKnown();
      const before = line.orders;
      line.next.push(...Array(1_000).fill(fault));
      const ticket = orders.ticket(options);
      const placing = ticket.place(input, { withinMs: 120_000 });
      await eventually(() => line.orders > before);
      core.dispose();
      await placing;
      line.next.length = 0;
      return ticket.idempotencyKey;
    },
    async [Symbol.asyncDispose]() {
      for (const { core } of cores) core.dispose();
      await line[Symbol.asyncDispose]();
      await app.close();
    },
  };
  phone.signIn('demo@example.com');
  return phone;
}

/** For an order that may take a minute: with the answer to its so manieth request, or the loss of it, the minute is over. */
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

/** By which no answer says the server's time. */
export const undatedFetch: typeof fetch = async (input, init) => {
  const answer = await fetch(input, init);
  return new Response(await answer.text(), { status: answer.status });
};

/** A market order for one share, with a comment by which the gateway's ledger can be searched. */
export function buying(comment: string, symbol = 'AAPL'): OrderInput {
  return { symbol, side: 'BUY', size: { units: 1 }, comment };
}

/** A limit order that waits, far below the market. */
export const LIMIT: LimitOrderInput = {
  ...{ symbol: 'AAPL', side: 'BUY', amount: 50, price: 10, comment: 'limit' },
};

/** An order that was carried out, and one that surely was not, or of which nobody knows, for a reason. */
export const ACCEPTED = { status: 'accepted' } as const;
export const unsent = (code: string, details = {}) => ({
  ...{ status: 'unsent', error: { code, ...details } },
});
export const unknown = (code: string, details = {}) => ({
  ...{ status: 'unknown', error: { code, ...details } },
});
