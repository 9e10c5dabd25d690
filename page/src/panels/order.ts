import type { Result } from '../../../client/src/core.ts';
import type { Client } from '../../../client/src/create-client.ts';
import type { OrderOutcome } from '../../../client/src/orders/outcome.ts';
import { mayHaveTraded } from '../../../client/src/orders/repeat-rules.ts';
import type { ResumedOrder, ResumedOutcome } from '../../../client/src/orders/resumed-order.ts';
import type { App } from '../app.ts';
import { CodeBox } from '../code-box.ts';
import { type OrderResult, PLACE_ORDER, PLACED_ORDER, type PlaceOrderData } from '../documents.ts';
import { find } from '../dom.ts';
import { formatMs } from '../format.ts';
import { pause } from '../network.ts';
import { onClick } from '../on-click.ts';
import { sandbox } from '../sandbox.ts';
import type { Example } from '../snippets.ts';
import {
  type Details,
  detailsOf,
  detailsOfResult,
  OrderBox,
  type Shown,
  type Status,
  type Turn,
  wordsOf,
} from './order-box.ts';

interface Form {
  readonly symbol: string;
  readonly side: 'BUY' | 'SELL';
  readonly units: number;
}

const LOOK_MS = 50;
/** The order is under way for so long when the app is killed. */
const KILLED_ORDER_MS = 3_000;
/** For so long that it can be read. */
const DEAD_MS = 1_500;

/** A ticket that becomes one order, whatever happens on the way. */
export function startOrder(app: App, measured: Promise<unknown>): void {
  const form = find('order-form', HTMLFormElement);
  const code = new CodeBox('order-code', app, orderExample(readForm(form)));
  const box = new OrderBox();

  form.addEventListener('input', () => code.show(orderExample(readForm(form))));
  form.addEventListener('submit', (event) => event.preventDefault());
  onClick(find('order-place', HTMLButtonElement), () => placeOnce(app, box, readForm(form)));
  onClick(find('order-twice', HTMLButtonElement), () => placeTwice(app, box, readForm(form)));
  onClick(find('order-kill', HTMLButtonElement), () => placeAndKill(app, box, readForm(form)));
  app.onUserChange(() => box.clear());
  lookAtNewPositions(app, box);
  const turn = box.begin(wordsOf('none'));
  void measured.then(() => resume(app, turn, app.client));
}

/** An order whose outcome is open may have become a position after all. */
function lookAtNewPositions(app: App, box: OrderBox): void {
  let known: ReadonlySet<string> = new Set();
  app.client.account(({ positions }) => {
    const ids = new Set(positions.map(({ id }) => id));
    if ([...ids].some((id) => !known.has(id))) void box.look();
    known = ids;
  });
}

async function placeOnce(app: App, box: OrderBox, { symbol, side, units }: Form): Promise<void> {
  const ticket = app.client.orders.ticket();
  const turn = box.begin(pendingOf(ticket.idempotencyKey));
  const before = await ordersSent(app);
  const input = { symbol, side, kind: 'MARKET', size: { units } } as const;
  const startedAt = performance.now();
  // The same ticket is one order, however often it is placed.
  const place = async (): Promise<Shown> => {
    const outcome = await ticket.place(input, { onProgress: turn.step });
    const tookMs = performance.now() - startedAt;
    const sent = await sentSince(app, before);
    return {
      ...wordsOf(outcome.status),
      details: [...detailsOf(outcome), ['Answered after', formatMs(tookMs)], ...countOf(sent)],
      ...(outcome.status === 'unknown' && { ask: place }),
    };
  };
  turn.show(await place());
}

/** Two requests of one key at the same time, as two taps are that a front end does not hold back. */
async function placeTwice(app: App, box: OrderBox, { symbol, side, units }: Form): Promise<void> {
  const { idempotencyKey } = app.client.orders.ticket();
  const turn = box.begin(pendingOf(idempotencyKey));
  const before = await ordersSent(app);
  const input = { symbol, side, kind: 'MARKET' as const, size: { units }, idempotencyKey };
  const answers = await Promise.all([1, 2].map(() => app.client.mutate(PLACE_ORDER, { input })));
  const sent = await sentSince(app, before);
  const results = answers.map(({ data, errors }) => {
    const result = data?.placeOrder;
    if (!result) return errors[0]?.code ?? 'no answer';
    const words = [result.orderId, result.error, result.message].filter(Boolean).join(' ');
    return `${result.__typename} ${words}${result.replayed ? ', replayed' : ''}`;
  });
  const status = statusOf(answers);
  const words = wordsOf(status);
  turn.show({
    ...words,
    title: sent === null ? words.title : `Two taps, ${sent === 1 ? 'one order' : `${sent} orders`}`,
    details: [
      ['Key', idempotencyKey],
      ['First tap', results[0] ?? ''],
      ['Second tap', results[1] ?? ''],
      ...countOf(sent),
    ],
    ...askOf(app, idempotencyKey, status),
  });
}

/** The status after two answers to one key: either may be lost while the other comes. */
function statusOf(answers: readonly Result<PlaceOrderData>[]): Status {
  const outcome = answers.map(({ data }) => data?.placeOrder).find((each) => each != null);
  if (outcome) return statusOfResult(outcome);
  return answers.some(({ errors }) => errors.some(mayHaveTraded)) ? 'unanswered' : 'unsent';
}

function statusOfResult({ sent, __typename }: OrderResult): Status {
  return sent === false ? 'unsent' : STATUS_OF[__typename];
}

const STATUS_OF = {
  OrderAccepted: 'accepted',
  OrderRejected: 'rejected',
  OrderOutcomeUnknown: 'unknown',
} as const;

/** Ends the app while the order is under way, as a phone's system does, and starts it again: its storage alone survives. */
async function placeAndKill(app: App, box: OrderBox, { symbol, side, units }: Form): Promise<void> {
  const delay = { operation: 'openPosition', kind: 'delay', delayMs: KILLED_ORDER_MS } as const;
  await sandbox.fail({ ...delay, times: 1 });
  const phone = app.restarted();
  const ticket = phone.orders.ticket();
  const { idempotencyKey } = ticket;
  const turn = box.begin(pendingOf(idempotencyKey));
  box.reveal();
  const before = await ordersSent(app);
  let outcome: OrderOutcome | null = null;
  void ticket.place({ symbol, side, size: { units } }).then((placed) => {
    outcome = placed;
  });
  while (outcome === null && (await ordersSent(app)) === before) await pause(LOOK_MS);
  phone.dispose();
  // It ended before it reached the gateway: there is nothing to come back for.
  if (outcome !== null) return turn.show({ ...wordsOf('unsent'), details: detailsOf(outcome) });
  const details: Details = [['Stored key', idempotencyKey]];
  turn.show({ ...wordsOf('killed'), details });
  await pause(DEAD_MS);
  const advice = 'The server is asked what became of the order.';
  turn.show({ ...wordsOf('pending'), title: 'The app is back', advice, details });
  const restarted = app.restarted();
  await resume(app, turn, restarted, idempotencyKey);
  restarted.dispose();
  box.reveal();
}

/** Shows the outcome of an order from an earlier run of the app: that of the key, or of the last one. */
async function resume(app: App, turn: Turn, { orders }: Client, key?: string): Promise<void> {
  const resumed = await orders.resume().catch((): readonly ResumedOrder[] => []);
  const order = resumed.find(({ idempotencyKey }) => idempotencyKey === key) ?? resumed.at(-1);
  if (order === undefined) {
    if (key !== undefined)
      turn.show({ ...wordsOf('unanswered'), ...askOf(app, key, 'unanswered') });
    return;
  }
  // The client keeps orders whose outcome nobody knows until the user has dealt with them, as by reading this page.
  for (const one of resumed) await one.forget().catch(() => {});
  const { outcome, idempotencyKey } = order;
  const words = wordsOf(outcome.status);
  turn.show({
    ...words,
    title: `After the restart: ${words.title.toLowerCase()}`,
    details: [
      ['Stored key', idempotencyKey],
      ...resumedDetails(outcome),
      ['Orders sent by this run', '0'],
    ],
    ...askOf(app, idempotencyKey, outcome.status),
  });
}

function resumedDetails(outcome: ResumedOutcome): Details {
  if (outcome.status === 'notFound') return [];
  if (outcome.status === 'unanswered') return [['Reason', outcome.error.message]];
  return detailsOf(outcome).filter(([name]) => name !== 'Key');
}

/** The question to the server's record of the key, where the outcome is open. It sends no order. */
function askOf(app: App, key: string, status: Status): Pick<Shown, 'ask'> {
  if (!['unknown', 'unanswered', 'notFound'].includes(status)) return {};
  return {
    async ask() {
      const { data, errors } = await app.client.query(PLACED_ORDER, { key });
      const found = data?.placedOrder;
      const now = found ? statusOfResult(found) : errors.length > 0 ? 'unanswered' : 'notFound';
      return {
        ...wordsOf(now),
        details: [['Key', key], ...(found ? detailsOfResult(found) : [])],
        ...askOf(app, key, now),
      };
    },
  };
}

/** The number of market orders that the gateway has received; null where it cannot be asked. */
async function ordersSent(app: App): Promise<number | null> {
  await app.calls.refresh();
  const { counts } = app.calls;
  return counts && (counts.operations.openPosition ?? 0);
}

/** Null where the gateway could not be asked, or has begun to count anew. */
async function sentSince(app: App, before: number | null): Promise<number | null> {
  const after = await ordersSent(app);
  return before === null || after === null || after < before ? null : after - before;
}

function countOf(sent: number | null): Details {
  return sent === null ? [] : [['Orders at the gateway', String(sent)]];
}

function pendingOf(key: string): Shown {
  return { ...wordsOf('pending'), details: [['Key', key]] };
}

function readForm(form: HTMLFormElement): Form {
  const data = new FormData(form);
  return {
    symbol: String(data.get('symbol')),
    side: data.get('side') === 'SELL' ? 'SELL' : 'BUY',
    units: Number(data.get('units')),
  };
}

function orderExample({ symbol, side, units }: Form): Example {
  const input = {
    symbol,
    side,
    kind: 'MARKET' as const,
    size: { units },
    idempotencyKey: 'my-first-order',
  };
  return {
    document: PLACE_ORDER,
    variables: { input },
    client: `const ticket = client.orders.ticket(); // with the form
const outcome = await ticket.place({
  symbol: '${symbol}',
  side: '${side}',
  kind: 'MARKET',
  size: { units: ${units} },
}, {
  // 'sending', 'asking' what became of it, 'closing' its key
  onProgress: (progress) => console.log(progress),
});
// 'accepted', 'rejected' or 'unsent';
// 'unknown' where the gateway leaves it open
console.log(outcome.status);

// after a restart of the app
const orders = await client.orders.resume();`,
  };
}
