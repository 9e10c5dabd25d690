import type { LedgerEntry } from '../../src/sandbox/ledger.ts';
import type { Exchange, Page } from './ledger-book.ts';
import type { OrderRequest, Reply } from './order-request.ts';

/** All that both sides know of one key when everything is over. */
export interface Story {
  readonly page: Page;
  /** What the gateway carried out under it. */
  readonly applied: readonly LedgerEntry[];
  /** How often the gateway was asked to. */
  readonly calls: number;
  /** What `placedOrder` says in the end. */
  readonly final: Reply;
  /** Whether the account was turned away at times, after which a key may go out again. */
  readonly isRefused: boolean;
  /** Whether the store could lose what no living replica knew: keys whose order was not carried out. */
  readonly mayForget: boolean;
}

// Errors that promise that nothing was traded, and leave the key free.
const FREEING = ['GATEWAY_UNAVAILABLE', 'UNAUTHENTICATED', 'FORBIDDEN', 'RATE_LIMITED'];
const ALLOWED = [...FREEING, 'IDEMPOTENCY_UNAVAILABLE', 'BAD_USER_INPUT', 'GATEWAY_TIMEOUT'];

type Told = Exchange & { readonly reply: Extract<Reply, { kind: 'outcome' }> };

/** Where the clients' ledger and the gateway's contradict each other, in words; empty: nowhere. */
export function contradictionsIn(story: Story): string[] {
  const { page, final } = story;
  return [...rules(story)].map(
    (rule) =>
      `${page.login} ${page.key}: ${rule} (${JSON.stringify({ ...story, final, page: { ...page } })})`,
  );
}

function* rules({ page, applied, calls, final, isRefused, mayForget }: Story): Generator<string> {
  const { exchanges, request } = page;
  const told = exchanges.filter((exchange): exchange is Told => exchange.reply.kind === 'outcome');
  const words = [...told.map(({ reply }) => reply), ...(final.kind === 'outcome' ? [final] : [])];
  const accepted = words.filter(({ type }) => type === 'OrderAccepted');
  const rejected = words.filter(({ type }) => type === 'OrderRejected');

  if (applied.length > 1) yield 'carried out more than once';
  if (calls > 1 && !isRefused) yield 'sent more than once';
  if (calls < applied.length) yield 'carried out without a call';

  if (accepted.length > 0 && applied.length !== 1) yield 'accepted, and not at the gateway';
  if (accepted.some(({ orderId }) => orderId !== applied[0]?.orderId)) {
    yield 'accepted under another number';
  }
  if (rejected.length > 0 && applied.length > 0) yield 'rejected, and yet at the gateway';
  if (accepted.length > 0 && rejected.length > 0) yield 'both accepted and rejected';
  if (told.filter(({ reply }) => !reply.replayed).length > 1) yield 'answered as new twice';

  if (final.kind === 'cut' || final.kind === 'error') yield 'not answered in the end';
  if (final.kind === 'nothing') {
    if (applied.length > 0) yield 'at the gateway, and forgotten';
    const wasKnown = words.some(({ type }) => type !== 'OrderOutcomeUnknown');
    if (wasKnown || (words.length > 0 && !mayForget)) yield 'had an outcome, and is forgotten';
    if (calls > 0 && !isRefused) yield 'was sent, and is forgotten';
  }
  for (const known of told.filter(({ reply }) => reply.type !== 'OrderOutcomeUnknown')) {
    if (final.kind === 'outcome' && final.type !== known.reply.type) yield 'changed in the end';
    const later = told.filter(({ beganAt }) => beganAt > known.endedAt);
    if (later.some(({ reply }) => reply.type !== known.reply.type)) yield 'changed in between';
  }

  yield* rulesOfInput(exchanges, told, applied, request);
}

function* rulesOfInput(
  exchanges: readonly Exchange[],
  told: readonly Told[],
  applied: readonly LedgerEntry[],
  first: OrderRequest,
): Generator<string> {
  const answered = told.flatMap(({ request }) => (request ? [request] : []));
  if (new Set(answered.map(meaning)).size > 1) yield 'one key answered for two orders';
  const [entry] = applied;
  if (entry && !answered.every((each) => isFor(entry, each))) yield 'another order was carried out';
  for (const { request, reply } of exchanges) {
    if (reply.kind !== 'error') continue;
    if (!ALLOWED.includes(reply.code)) yield `ended in ${reply.code}`;
    if (reply.code !== 'BAD_USER_INPUT') continue;
    if (reply.argument !== 'input.idempotencyKey') yield `blamed ${reply.argument}`;
    // The first input may itself be the other one, where that came through before it.
    const inputs = exchanges.flatMap((each) => (each.request ? [meaning(each.request)] : []));
    const isAlone = new Set([...inputs, meaning(first)]).size < 2;
    if (!request || isAlone) yield 'refused as another order, and there was none';
  }
}

/** What an order asks for, in whichever words. */
function meaning({ mutation, input }: OrderRequest): string {
  const given = Object.entries(input).filter(([, value]) => value !== null);
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
