import { AccountProof, ProofLedger } from '../../../src/domain/auth/proof.ts';
import type { Viewer } from '../../../src/domain/auth/viewer.ts';
import { orderLines } from '../../../src/domain/trading/order-line.ts';
import { Orders } from '../../../src/domain/trading/orders.ts';
import type { SubmitterOptions } from '../../../src/domain/trading/submitter.ts';
import { marketTicket, type Ticket } from '../../../src/domain/trading/ticket.ts';
import type { OrderEnd } from '../../../src/gateway/client.ts';
import type { Exchange } from '../../../src/gateway/exchange.ts';
import { SUBMITTED } from '../../../src/gateway/operations/submitted.ts';
import { type Account, textOf } from '../../../src/lib/account.ts';
import { LogicalClock, systemClock } from '../../../src/lib/clock.ts';
import type { OrderRecords } from '../../../src/store/order-records.ts';
import { openInlineOrderRecords } from '../../../src/store/sqlite/sqlite-records.ts';
import { withMethods } from '../../store/opened-records.ts';
import { onWire } from '../../support/ask-gateway.ts';
import { datesBy } from '../../support/dates.ts';
import { orderEnd } from '../../support/order-end.ts';
import { keyOf } from '../../support/order-keys.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { viewerOf } from '../viewer.ts';

/** An order's call of the gateway. The test ends it. */
export interface WaitingCall {
  readonly symbol: string;
  readonly sendBeforeMs: number | null;
  readonly end: (exchange: Exchange | Error) => void;
  /** Delivers an answer after the call has ended. */
  readonly endLate: (exchange: Exchange) => void;
}

export function proofOf(viewer: Viewer): AccountProof {
  const ledger = new ProofLedger({
    clock: systemClock,
    logicalClock: new LogicalClock(),
    proofMs: 1_000,
  });
  ledger.verified(viewer);
  const proof = ledger.account(viewer);
  if (!(proof instanceof AccountProof)) throw new Error('a verified token is proved');
  return proof;
}

/** A ticket of an order whose key has this name. */
export function ticketOf(name: string, symbol = 'AAPL', sendBefore?: number): Ticket {
  return ticketWith(keyOf(name), symbol, sendBefore);
}

export function ticketWith(idempotencyKey: string, symbol = 'AAPL', sendBefore?: number): Ticket {
  return marketTicket({
    symbol,
    side: 'BUY',
    kind: 'MARKET',
    size: { units: 1 },
    idempotencyKey,
    sendBefore,
  });
}

export const notSent: Exchange = { sent: false, cause: new Error('connection refused') };

/** An answer to an order; its body has the table's names. */
export function answered(status: number, body: object = {}): Exchange {
  return {
    sent: true,
    answered: true,
    status,
    headers: {},
    bytes: Buffer.from(onWire(SUBMITTED, JSON.stringify(body))),
    logicalTime: 1,
    sentAtMs: 1_000,
  };
}

export const unanswered: Exchange = {
  sent: true,
  answered: false,
  reason: 'timeout',
  cause: new Error('late'),
  logicalTime: 1,
  sentAtMs: 1_000,
};

export const acceptedAs = (orderId: string) => answered(200, { success: true, orderId });

export function createTestLog() {
  const lines: string[] = [];
  const add = (_fields: unknown, message?: unknown) => void lines.push(String(message));
  return { lines, error: add, warn: add, info() {} };
}

export const demo = viewerOf('token-1');
export const demoProof = proofOf(demo);
export const orderTimeoutMs = 15_000;

/** Counters that call `count` with their name, such as `unknown order` or `contradicted`. */
export function countersOf(count: (name: string) => void): SubmitterOptions['metrics'] {
  const counter = (name: string) => ({
    inc: (labels?: { outcome: string }) => count(labels ? `${labels.outcome} ${name}` : name),
  });
  return {
    orders: counter('order'),
    contradictions: counter('contradicted'),
  } as unknown as SubmitterOptions['metrics'];
}

/** Creates orders with records in memory, a scripted gateway and a scripted clock. `change` replaces methods of records. */
export function stage(
  change: (shared: OrderRecords) => Partial<OrderRecords> = () => ({}),
  more: Partial<SubmitterOptions> = {},
) {
  const clock = createScriptedClock(Date.now());
  const calls: WaitingCall[] = [];
  const gateway: SubmitterOptions['gateway'] = {
    order(_viewer, { order: { symbol }, sendBeforeMs }, endLate = () => {}) {
      const { promise, resolve, reject } = Promise.withResolvers<OrderEnd>();
      const end = (exchange: Exchange | Error) =>
        exchange instanceof Error ? reject(exchange) : resolve(orderEnd(exchange));
      const late = (exchange: Exchange) => endLate(orderEnd(exchange));
      calls.push({ symbol, sendBeforeMs, end, endLate: late });
      return promise;
    },
  };
  const dates = datesBy(clock);
  const shared = openInlineOrderRecords({
    path: ':memory:',
    max: 100,
    clock,
    dates,
    takesOldKeys: true,
    onWarn() {},
  });
  const records = withMethods(shared, change(shared));
  const log = createTestLog();
  const changedAccounts: string[] = [];
  const counted: string[] = [];
  const onAccountChanged = (account: Account) => void changedAccounts.push(textOf(account));
  /** Creates the orders of another process with the same records. */
  const start = () =>
    new Orders({
      gateway,
      records,
      clock,
      orderTimeoutMs,
      onAccountChanged,
      log,
      dates,
      orderNumbers: 'order',
      lines: orderLines(null),
      metrics: countersOf((name) => void counted.push(name)),
      ...more,
    });
  const orders = start();
  /** Places an order whose key has this name, and lets it run until its call is in `calls`, or until a step that the test delays or fails. */
  async function begin(
    name: string,
    viewer = demo,
    symbol?: string,
    process = orders,
    sendBefore?: number,
  ) {
    const placed = process.place(viewer, proofOf(viewer), ticketOf(name, symbol, sendBefore));
    placed.catch(() => {});
    await clock.advance(0);
    // An async function awaits a returned promise, so the result is in an object.
    return { placed };
  }
  return { clock, calls, records, log, changedAccounts, counted, orders, start, begin };
}

/** Whether the promise has settled. If not, the next turn of the event loop wins the race. */
export function isOver(promise: Promise<unknown>): Promise<boolean> {
  const nextTurn = new Promise<boolean>((resolve) => setImmediate(resolve, false));
  const settled = () => true;
  return Promise.race([promise.then(settled, settled), nextTurn]);
}

export function last<T>(list: readonly T[]): T {
  const item = list.at(-1);
  if (item === undefined) throw new Error('the list is empty');
  return item;
}
