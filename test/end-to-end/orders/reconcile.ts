import type { LedgerEntry } from '../../../sandbox/ledger.ts';
import type { Exchange, Page } from './ledger-book.ts';
import type { OrderRequest, Reply } from './order-request.ts';

/** The clients' and the gateway's data of one key at the end. */
export interface Story {
  readonly page: Page;
  /** The orders that the gateway applied under it. */
  readonly applied: readonly LedgerEntry[];
  /** The number of calls to the gateway. */
  readonly calls: number;
  /** The final reply of `placedOrder`. */
  readonly final: Reply;
  /** Whether the gateway refused the account at times, after which a key may be sent again. */
  readonly isRefused: boolean;
  /** Whether the store could lose data that no living replica had: keys whose order was not applied. */
  readonly mayForget: boolean;
}

// Errors that guarantee that nothing was traded, and leave the key free.
const FREEING = ['GATEWAY_UNAVAILABLE', 'UNAUTHENTICATED', 'FORBIDDEN', 'RATE_LIMITED'];
const ALLOWED = [...FREEING, 'IDEMPOTENCY_UNAVAILABLE', 'BAD_USER_INPUT', 'GATEWAY_TIMEOUT'];

type AnsweredExchange = Exchange & { readonly reply: Extract<Reply, { kind: 'outcome' }> };

/** The contradictions between the clients' ledger and the gateway's, as sentences. */
export function contradictionsIn(story: Story): string[] {
  const { page, final } = story;
  return [...rules(story)].map(
    (rule) =>
      `${page.login} ${page.key}: ${rule} (${JSON.stringify({ ...story, final, page: { ...page } })})`,
  );
}

function* rules({ page, applied, calls, final, isRefused, mayForget }: Story): Generator<string> {
  const { exchanges, request } = page;
  const outcomes = exchanges.filter(
    (exchange): exchange is AnsweredExchange => exchange.reply.kind === 'outcome',
  );
  const words = [
    ...outcomes.map(({ reply }) => reply),
    ...(final.kind === 'outcome' ? [final] : []),
  ];
  const accepted = words.filter(({ type }) => type === 'OrderAccepted');
  const rejected = words.filter(({ type }) => type === 'OrderRejected');
  const unsent = rejected.filter(({ sent }) => sent === false);

  if (applied.length > 1) yield 'carried out more than once';
  if (calls > 1 && !isRefused) yield 'sent more than once';
  if (calls < applied.length) yield 'carried out without a call';

  if (accepted.length > 0 && applied.length !== 1) yield 'accepted, and not at the gateway';
  if (accepted.some(({ orderId }) => orderId !== applied[0]?.orderId)) {
    yield 'accepted under another number';
  }
  if (rejected.length > 0 && applied.length > 0) yield 'rejected, and yet at the gateway';
  if (unsent.length > 0 && calls > 0 && !isRefused) yield 'refused unsent, and yet sent';
  if (exchanges.some(({ isVoid, reply }) => isVoid && reply.kind === 'nothing')) {
    yield 'a void was answered with nothing';
  }
  if (new Set(rejected.map(({ error, sent }) => `${sent} ${error}`)).size > 1) {
    yield 'rejected for two reasons';
  }
  if (accepted.length > 0 && rejected.length > 0) yield 'both accepted and rejected';
  if (outcomes.filter(({ reply }) => !reply.replayed).length > 1) yield 'answered as new twice';

  if (final.kind === 'cut') yield 'not answered in the end';
  if (final.kind === 'error') {
    if (!final.earlierUnknown) yield 'not answered in the end';
    if (!exchanges.some(({ isVoid }) => isVoid)) yield 'forgotten, and nobody closed it';
    // An order that comes with a closed key is refused, by words that leave earlier ones open.
    const told = words.filter(
      ({ type, error }) => type !== 'OrderOutcomeUnknown' && error !== 'VOIDED',
    );
    if (told.length > 0) yield 'told, and yet forgotten';
  }
  if (final.kind === 'nothing') {
    if (applied.length > 0) yield 'at the gateway, and forgotten';
    const wasKnown = words.some(({ type }) => type !== 'OrderOutcomeUnknown');
    if (wasKnown || (words.length > 0 && !mayForget)) yield 'had an outcome, and is forgotten';
    if (calls > 0 && !isRefused) yield 'was sent, and is forgotten';
  }
  for (const known of outcomes.filter(({ reply }) => reply.type !== 'OrderOutcomeUnknown')) {
    if (final.kind === 'outcome' && final.type !== known.reply.type) yield 'changed in the end';
    const later = outcomes.filter(({ beganAt }) => beganAt > known.endedAt);
    // A Redis that forgets has the outcome again once the replica that knows it has written it back.
    const allowed = [known.reply.type, ...(mayForget ? ['OrderOutcomeUnknown'] : [])];
    if (later.some(({ reply }) => !allowed.includes(reply.type))) yield 'changed in between';
  }

  yield* rulesOfInput(exchanges, outcomes, applied, request);
  for (const { reply, beganAt, beganAtMs } of exchanges) {
    if (reply.kind === 'error' && /order was not sent/i.test(reply.message)) {
      yield 'spoke of the order, not of its request';
    }
    if (!saysNoneBefore(reply)) continue;
    const told = outcomes.filter(({ endedAt }) => endedAt < beganAt);
    const isKnown = told.some(({ reply: { type } }) => type !== 'OrderOutcomeUnknown');
    if (isKnown || (told.length > 0 && !mayForget)) yield 'none before, and one had an outcome';
    if (applied.some(({ atMs }) => atMs < beganAtMs)) yield 'none before, and one was carried out';
  }
}

/** Whether an answer claims that no earlier request with the key is on record. */
function saysNoneBefore(reply: Reply): boolean {
  if (reply.kind !== 'error') return reply.kind === 'nothing';
  const { code, earlierUnknown } = reply;
  return !earlierUnknown && ['IDEMPOTENCY_UNAVAILABLE', 'GATEWAY_UNAVAILABLE'].includes(code);
}

function* rulesOfInput(
  exchanges: readonly Exchange[],
  outcomes: readonly AnsweredExchange[],
  applied: readonly LedgerEntry[],
  first: OrderRequest,
): Generator<string> {
  // A closed key refuses whatever comes with it.
  const orders = outcomes.filter(({ reply }) => reply.error !== 'VOIDED' || reply.sent);
  const answered = orders.flatMap(({ request }) => (request ? [request] : []));
  if (new Set(answered.map(normalize)).size > 1) yield 'one key answered for two orders';
  const [entry] = applied;
  if (entry && !answered.every((each) => isFor(entry, each))) yield 'another order was carried out';
  for (const { request, reply } of exchanges) {
    if (reply.kind !== 'error') continue;
    if (!ALLOWED.includes(reply.code)) yield `ended in ${reply.code}`;
    if (reply.code !== 'BAD_USER_INPUT') continue;
    if (reply.argument !== 'input.idempotencyKey') yield `blamed ${reply.argument}`;
    // The first input may itself be the other one, where that was reserved before it.
    const inputs = exchanges.flatMap((each) => (each.request ? [normalize(each.request)] : []));
    const isAlone = new Set([...inputs, normalize(first)]).size < 2;
    if (!request || isAlone) yield 'refused as another order, and there was none';
  }
}

/** An order's canonical form, independent of how its input was written. */
function normalize({ mutation, input }: OrderRequest): string {
  // The kind is no part of an order, since its price says it; nor is how long it may wait.
  const given = Object.entries(input).filter(([name]) => name !== 'kind' && name !== 'sendBefore');
  return JSON.stringify([mutation, ...given.sort(([one], [other]) => (one < other ? -1 : 1))]);
}

function isFor(
  { operation, symbol, isBuy }: LedgerEntry,
  { mutation, input }: OrderRequest,
): boolean {
  return (
    (operation === 'openPosition') === (mutation === 'placeOrder') &&
    symbol === input.symbol &&
    isBuy === (input.side === 'BUY')
  );
}
