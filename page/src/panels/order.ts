import type { Result } from '../../../client/src/core.ts';
import type { Client } from '../../../client/src/create-client.ts';
import type { TradingGraphError } from '../../../client/src/errors.ts';
import {
  PLACED_ORDER as ASK,
  PLACE_ORDER as PLACE,
} from '../../../client/src/orders/operations.ts';
import {
  type OrderAnswer,
  type OrderOutcome,
  readAnswer,
} from '../../../client/src/orders/outcome.ts';
import { mayHaveTraded } from '../../../client/src/orders/repeat-rules.ts';
import type { App } from '../app.ts';
import { CodeBox } from '../code-box.ts';
import { PLACE_ORDER } from '../documents.ts';
import { find } from '../dom.ts';
import { formatMs } from '../format.ts';
import { pause } from '../network.ts';
import { onClick } from '../on-click.ts';
import { sandbox } from '../sandbox.ts';
import type { Example } from '../snippets.ts';
import {
  type Answer,
  type Details,
  detailsOf,
  OrderBox,
  type Shown,
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
  // Whoever runs what was copied before places another order.
  const example = () => orderExample(readForm(form), app.client.orders.ticket().idempotencyKey);
  const code = new CodeBox('order-code', app, example(), () => code.show(example()));
  const box = new OrderBox(app);

  form.addEventListener('input', () => code.show(example()));
  form.addEventListener('submit', (event) => event.preventDefault());
  onClick(find('order-place', HTMLButtonElement), () => placeOnce(app, box, readForm(form)));
  onClick(find('order-twice', HTMLButtonElement), () => placeTwice(app, box, readForm(form)));
  onClick(find('order-kill', HTMLButtonElement), () => placeAndKill(app, box, readForm(form)));
  lookAtNewPositions(app, box);
  const lookBack = () => {
    if (box.isEmpty) void resume(app, box.begin(wordsOf('looking')), app.client);
  };
  app.onUserChange(lookBack);
  app.onReturn(lookBack);
  void measured.then(lookBack);
}

/** An order whose outcome is open may have become a position after all. */
function lookAtNewPositions(app: App, box: OrderBox): void {
  let known: ReadonlySet<string> = new Set();
  app.client.account(({ positions }) => {
    const ids = new Set(positions?.map(({ id }) => id));
    if ([...ids].some((id) => !known.has(id))) void box.look();
    known = ids;
  });
}

async function placeOnce(app: App, box: OrderBox, { symbol, side, units }: Form): Promise<void> {
  const ticket = app.client.orders.ticket();
  const { idempotencyKey } = ticket;
  const turn = box.begin(pendingOf(idempotencyKey));
  const before = await ordersSent(app);
  const input = { symbol, side, kind: 'MARKET', size: { units } } as const;
  const startedAt = performance.now();
  const outcome = await ticket.place(input, { onProgress: turn.step });
  const tookMs = performance.now() - startedAt;
  const sent = await countSince(app, turn, before);
  turn.show(shownOf(app, idempotencyKey, outcome, [['Answered after', formatMs(tookMs)], ...sent]));
}

/** Two requests of one key at the same time, as two taps are that a front end does not hold back. */
async function placeTwice(app: App, box: OrderBox, { symbol, side, units }: Form): Promise<void> {
  const { idempotencyKey } = app.client.orders.ticket();
  const turn = box.begin(pendingOf(idempotencyKey));
  const before = await ordersSent(app);
  const input = { symbol, side, kind: 'MARKET' as const, size: { units }, idempotencyKey };
  const place = () => outcomeOf(app.client.mutate(PLACE, { input }), idempotencyKey);
  const taps = await Promise.all([place(), place()]);
  const sent = await countSince(app, turn, before);
  // Either may be lost while the other comes.
  const outcome = taps.find(({ status }) => status !== 'unanswered') ?? taps[0];
  const shown = shownOf(app, idempotencyKey, outcome, [
    ...taps.map((tap, at): Details[number] => [`Tap ${at + 1}`, wordsOfTap(tap)]),
    ...sent,
  ]);
  const [[, count] = []] = sent;
  const orders = count === '1' ? 'one order' : `${count} orders`;
  turn.show(count === undefined ? shown : { ...shown, title: `Two taps, ${orders}` });
}

export function wordsOfTap(outcome: Answer): string {
  return 'replayed' in outcome && outcome.replayed ? `${outcome.status}, replayed` : outcome.status;
}

/** The outcome as the client's tickets read it. */
async function outcomeOf(answer: Promise<Result<OrderAnswer>>, key: string): Promise<Answer> {
  try {
    return readAnswer(await answer, key) ?? { status: 'notFound' };
  } catch (cause) {
    const error = cause as TradingGraphError;
    return mayHaveTraded(error, true)
      ? { status: 'unanswered', error }
      : { status: 'unsent', idempotencyKey: key, error };
  }
}

/** Where the outcome is open, it may be asked again what the server's record of the key says, which sends no order. */
function shownOf(app: App, key: string, outcome: Answer, more: Details = []): Shown {
  const isOpen = ['unknown', 'unanswered', 'notFound'].includes(outcome.status);
  return {
    ...wordsOf(outcome.status),
    details: [['Key', key], ...detailsOf(outcome), ...more],
    ...(isOpen && { ask: () => ask(app, key) }),
  };
}

async function ask(app: App, key: string): Promise<Shown> {
  return shownOf(app, key, await outcomeOf(app.client.query(ASK, { key }), key));
}

/** Ends the app while the order is under way, as a phone's system does, and starts it again: its storage alone survives. */
async function placeAndKill(app: App, box: OrderBox, { symbol, side, units }: Form): Promise<void> {
  const delay = { operation: 'openPosition', kind: 'delay', delayMs: KILLED_ORDER_MS } as const;
  // The delay of an order that is refused before it reaches the gateway is not the next one's.
  await sandbox.fail({ ...delay, times: 1, forMs: KILLED_ORDER_MS });
  const phone = app.restarted();
  const ticket = phone.orders.ticket();
  const { idempotencyKey } = ticket;
  const turn = box.begin(pendingOf(idempotencyKey));
  box.reveal();
  const before = await ordersSent(app);
  let outcome: OrderOutcome | null = null;
  void ticket.place({ symbol, side, kind: 'MARKET', size: { units } }).then((placed) => {
    outcome = placed;
  });
  while (outcome === null && (await ordersSent(app)) === before) await pause(LOOK_MS);
  phone.dispose();
  // It ended before it reached the gateway: there is nothing to come back for.
  if (outcome !== null) return turn.show(shownOf(app, idempotencyKey, outcome));
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
  const resumed = await orders.resume().catch(() => null);
  const order = key ? resumed?.find((one) => one.idempotencyKey === key) : resumed?.at(-1);
  if (order === undefined) {
    const none = resumed ? wordsOf('none') : { ...wordsOf('unanswered'), status: 'none' as const };
    return turn.show(key ? await ask(app, key) : none);
  }
  const sent: Details = [['Orders sent by this run', '0']];
  const shown = shownOf(app, order.idempotencyKey, order.outcome, sent);
  turn.show({ ...shown, title: `After the restart: ${shown.title.toLowerCase()}` });
  // The client reports an order until the user has dealt with it, as by reading this page. One that is not known yet is asked for again.
  const { outcome } = order;
  const isOpen = outcome.status === 'unknown' && outcome.error !== null;
  if (turn.isShown() && !isOpen) await order.forget().catch(() => {});
}

/** The number of the account's market orders that the gateway has received; null where it cannot be asked. */
export async function ordersSent(app: App): Promise<number | null> {
  await app.calls.refresh();
  const { counts } = app.calls;
  const { session } = app.client.account.state();
  return counts && session && (counts.logins[session.login]?.openPosition ?? 0);
}

/** Nothing where the gateway could not be asked, or has begun to count anew, or another user is signed in. */
async function countSince(app: App, turn: Turn, before: number | null): Promise<Details> {
  const after = await ordersSent(app);
  if (!turn.isShown() || before === null || after === null || after < before) return [];
  return [['Orders at the gateway', String(after - before)]];
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

function orderExample({ symbol, side, units }: Form, idempotencyKey: string): Example {
  const input = { symbol, side, kind: 'MARKET', size: { units }, idempotencyKey };
  return {
    document: PLACE_ORDER,
    variables: { input },
    client: `const ticket = client.orders.ticket(); // with the form
const outcome = await ticket.place({
  symbol: '${symbol}',
  side: '${side}',
  kind: 'MARKET',
  size: { units: ${units} },
});
// 'accepted', 'rejected' or 'unsent';
// 'unknown' where the gateway leaves it open
console.log(outcome.status);

// after a restart of the app
const orders = await client.orders.resume();`,
  };
}
