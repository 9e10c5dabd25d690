import type { Result } from '../../../client/src/core.ts';
import type { OrderOutcome } from '../../../client/src/orders/outcome.ts';
import { mayHaveTraded } from '../../../client/src/orders/repeat-rules.ts';
import type { ResumedOrder } from '../../../client/src/orders/resumed-order.ts';
import type { OrderProgress } from '../../../client/src/orders/ticket.ts';
import { announce } from '../announce.ts';
import type { App } from '../app.ts';
import { CodeBox } from '../code-box.ts';
import { PLACE_ORDER, type PlaceOrderData } from '../documents.ts';
import { find, h, setText } from '../dom.ts';
import { formatMs } from '../format.ts';
import { pause } from '../network.ts';
import { onClick } from '../on-click.ts';
import { sandbox } from '../sandbox.ts';
import type { Example } from '../snippets.ts';

type Status = OrderOutcome['status'] | 'none' | 'pending' | 'notFound' | 'unanswered';

interface Shown {
  readonly status: Status;
  readonly title: string;
  readonly details: readonly (readonly [string, string])[];
  readonly advice: string;
}

interface Form {
  readonly symbol: string;
  readonly side: 'BUY' | 'SELL';
  readonly units: number;
}

const LOOK_MS = 50;
/** The order is under way for so long when the app is killed. */
const KILLED_ORDER_MS = 3_000;
const KILLED = 'trading-graph:killed';
const WORDS: Readonly<Record<Status, readonly [title: string, advice: string]>> = {
  none: ['No order yet', 'Choose how the gateway answers, and place one.'],
  pending: [
    'On its way',
    'The key is stored. Whatever happens to this page, the order is sent once.',
  ],
  accepted: ['Accepted', 'The position is in the live list above.'],
  rejected: ['Rejected', 'Nothing was traded. The form may be corrected and sent with a new key.'],
  unknown: [
    'Unknown',
    'The gateway’s answer is lost, so nobody may claim success or failure. The same key never trades twice; the live list shows whether it did.',
  ],
  unsent: [
    'Not placed',
    'Nothing was traded, and nothing of it comes later. Another tap is another order.',
  ],
  notFound: [
    'Not arrived',
    'The server has no record of the key. Its order may arrive until its time is over; then the key is closed.',
  ],
  unanswered: ['Not known yet', 'The server could not be asked.'],
};

/** The words for what the client does meanwhile. */
const STEPS: Readonly<Record<OrderProgress, string>> = {
  sending: 'On its way',
  asking: 'No answer yet: asking what became of it',
  closing: 'Too late to send: closing its key',
};

/** A ticket that becomes one order, whatever happens on the way. */
export function startOrder(app: App): void {
  const form = find('order-form', HTMLFormElement);
  const code = new CodeBox('order-code', app, orderExample(readForm(form)));

  form.addEventListener('input', () => code.show(orderExample(readForm(form))));
  form.addEventListener('submit', (event) => event.preventDefault());
  onClick(find('order-place', HTMLButtonElement), () => placeOnce(app, readForm(form)));
  onClick(find('order-twice', HTMLButtonElement), () => placeTwice(app, readForm(form)));
  onClick(find('order-kill', HTMLButtonElement), () => placeAndKill(app, readForm(form)));
  app.onUserChange(() => show(wordsOf('none')));
  void resume(app);
}

async function placeOnce(app: App, { symbol, side, units }: Form): Promise<void> {
  const ticket = app.client.orders.ticket();
  const { idempotencyKey } = ticket;
  const before = await ordersSent(app);
  const stopClock = showPending(idempotencyKey);
  const startedAt = performance.now();
  const outcome = await ticket.place(
    { symbol, side, kind: 'MARKET', size: { units } },
    { onProgress: (progress) => setText(find('order-title', HTMLElement), STEPS[progress]) },
  );
  stopClock();
  const tookMs = performance.now() - startedAt;
  const sent = await sentSince(app, before);
  show({
    ...wordsOf(outcome.status),
    details: [...detailsOf(outcome), ['Answered after', formatMs(tookMs)], ...countOf(sent)],
  });
}

/** Two requests of one key at the same time, as two taps are that a front end does not hold back. */
async function placeTwice(app: App, { symbol, side, units }: Form): Promise<void> {
  const { idempotencyKey } = app.client.orders.ticket();
  const before = await ordersSent(app);
  const stopClock = showPending(idempotencyKey);
  const input = { symbol, side, kind: 'MARKET' as const, size: { units }, idempotencyKey };
  const answers = await Promise.all([1, 2].map(() => app.client.mutate(PLACE_ORDER, { input })));
  stopClock();
  const sent = await sentSince(app, before);
  const results = answers.map(({ data, errors }) => {
    const result = data?.placeOrder;
    if (!result) return errors[0]?.code ?? 'no answer';
    const id = result.orderId ? ` ${result.orderId}` : '';
    return `${result.__typename}${id}${result.replayed ? ', replayed' : ''}`;
  });
  const words = wordsOf(statusOf(answers));
  show({
    ...words,
    title: sent === null ? words.title : `Two taps, ${sent === 1 ? 'one order' : `${sent} orders`}`,
    details: [
      ['Key', idempotencyKey],
      ['First tap', results[0] ?? ''],
      ['Second tap', results[1] ?? ''],
      ...countOf(sent),
    ],
  });
}

/** The status after two answers to one key: either may be lost while the other comes. */
function statusOf(answers: readonly Result<PlaceOrderData>[]): Status {
  const outcome = answers.map(({ data }) => data?.placeOrder).find((each) => each != null);
  if (outcome) return outcome.sent === false ? 'unsent' : STATUS_OF[outcome.__typename];
  return answers.some(({ errors }) => errors.some(mayHaveTraded)) ? 'unanswered' : 'unsent';
}

const STATUS_OF = {
  OrderAccepted: 'accepted',
  OrderRejected: 'rejected',
  OrderOutcomeUnknown: 'unknown',
} as const;

/** Reloads the page while the order is under way: nothing but the stored key survives. */
async function placeAndKill(app: App, { symbol, side, units }: Form): Promise<void> {
  const delay = { operation: 'openPosition', kind: 'delay', delayMs: KILLED_ORDER_MS } as const;
  await sandbox.fail({ ...delay, times: 1 });
  const before = await ordersSent(app);
  const ticket = app.client.orders.ticket();
  const stopClock = showPending(ticket.idempotencyKey);
  let outcome: OrderOutcome | null = null;
  void ticket.place({ symbol, side, size: { units } }).then((placed) => {
    outcome = placed;
  });
  while (outcome === null && (await ordersSent(app)) === before) await pause(LOOK_MS);
  stopClock();
  // It ended before it reached the gateway: there is nothing to come back for.
  if (outcome !== null) return show({ ...wordsOf('unsent'), details: detailsOf(outcome) });
  sessionStorage.setItem(KILLED, ticket.idempotencyKey);
  location.reload();
}

/** Shows the outcomes of orders from an earlier run of this page. */
async function resume(app: App): Promise<void> {
  const killed = sessionStorage.getItem(KILLED);
  sessionStorage.removeItem(KILLED);
  if (killed !== null) {
    find('order', HTMLElement).scrollIntoView({ block: 'start' });
    show({
      ...wordsOf('pending'),
      title: 'The app is back',
      details: [['Stored key', killed]],
      advice: 'The server is asked what became of the order.',
    });
  }
  const resumed = await app.client.orders.resume().catch((): readonly ResumedOrder[] => []);
  const order = resumed.find(({ idempotencyKey }) => idempotencyKey === killed) ?? resumed.at(-1);
  if (order === undefined) return;
  // The client keeps orders whose outcome nobody knows until the user has dealt with them, as by reading this page.
  for (const one of resumed) await one.forget().catch(() => {});
  const { status } = order.outcome;
  show({
    ...wordsOf(status),
    title: `After the restart: ${wordsOf(status).title.toLowerCase()}`,
    details: [
      ['Stored key', order.idempotencyKey],
      ...('orderId' in order.outcome ? ([['Order', order.outcome.orderId ?? '–']] as const) : []),
      ['Orders sent by this run', '0'],
    ],
  });
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

function countOf(sent: number | null): Shown['details'] {
  return sent === null ? [] : [['Orders at the gateway', String(sent)]];
}

/** Shows that the order is under way, and for how long, until the returned function is called. */
function showPending(key: string): () => void {
  const startedAt = performance.now();
  show({
    ...wordsOf('pending'),
    details: [
      ['Key', key],
      ['Waiting for', '0 s'],
    ],
  });
  const timer = setInterval(() => {
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    const cells = find('order-details', HTMLElement).querySelectorAll('dd');
    setText(cells[1] ?? find('order-title', HTMLElement), `${seconds} s`);
  }, 1_000);
  return () => clearInterval(timer);
}

function detailsOf(outcome: OrderOutcome): Shown['details'] {
  const key = ['Key', outcome.idempotencyKey] as const;
  switch (outcome.status) {
    case 'accepted':
      return [key, ['Order', outcome.orderId ?? '–']];
    case 'rejected':
      return [key, ['Reason', outcome.error ?? '–']];
    case 'unknown':
      return [key, ['Sent at', outcome.sentAt]];
    case 'unsent':
      return [key, ['Reason', outcome.error.message]];
  }
}

function wordsOf(status: Status): Shown {
  const [title, advice] = WORDS[status];
  return { status, title, advice, details: [] };
}

function show({ status, title, details, advice }: Shown): void {
  find('order-outcome', HTMLElement).dataset.status = status;
  setText(find('order-title', HTMLElement), title);
  setText(find('order-advice', HTMLElement), advice);
  find('order-details', HTMLElement).replaceChildren(
    ...details.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))),
  );
  if (status !== 'none') announce(`Order: ${title}. ${advice}`);
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
