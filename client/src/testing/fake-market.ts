import { ACCOUNT_OPERATION } from '../account-operation.ts';
import { type PendingOrder, POSITION_FIELDS, type Position } from '../generated/rows.ts';
import type { AccountFigures } from '../live/live-source.ts';
import { protocolError } from '../request/failures.ts';
import { PING } from '../request/ping.ts';
import type { TokenSource } from '../request/tokens.ts';
import type { FakeNetwork, FakeRequest, FakeServer, FakeSubscription } from './fake-network.ts';
import { settled } from './fake-time.ts';
import { selectedFields, selectedOf } from './selected-fields.ts';

/** The market's state at the start. A property that is left out is unknown until the test sets it. */
export interface FakeMarketOptions {
  /** Rows by the fields that matter; the others are null. */
  readonly positions?: readonly (Partial<Position> & Pick<Position, 'id'>)[];
  readonly orders?: readonly (Partial<PendingOrder> & Pick<PendingOrder, 'id'>)[];
  readonly session?: Partial<AccountFigures>;
  /** The data of the app's own queries and mutations. An operation without data waits for `answer`. */
  readonly data?: (
    query: string,
    variables: Readonly<Record<string, unknown>>,
  ) => object | undefined;
}

/** An answer of the service to the app's own request: data, or errors by their codes, or both. */
export interface FakeResult {
  readonly data?: object | null;
  readonly errors?: readonly { readonly code: string; readonly message?: string }[];
}

/** The app's answer when its token ends: a new token, a refused one, null, the same, an error, or nothing before `renew`. */
export type Renewal = 'another' | 'refused' | 'none' | 'same' | 'fails' | 'waits';

type Values = Readonly<Record<string, unknown>>;

type ArrivedOrder = { input?: unknown; outcome?: object };

const NOTHING_TO_ANSWER = 'The client sends nothing that could be answered.';
/** Longer than a client seeks the outcome of an order. */
const LONGEST_MS = 70_000;
const REFUSED = { code: 'UNAUTHENTICATED', retryable: false };
/** The close code of a socket whose token the server refuses. */
const TOKEN_REFUSED = 4403;
/** The client's own mutations, which place an order or close its key. */
const ORDER = /order: (?:place|void)/;
/** The fields of the client's own subscriptions, which the market's changes answer. */
const CLIENT_LISTS = ['accountChanges', 'positionChanges'];

/** The service and its gateway, controlled by a test. Each function resolves when the client has handled its effects. */
export class FakeMarket implements FakeServer {
  readonly network: FakeNetwork;
  /** Requests that have no answer yet, oldest first. */
  waiting: readonly FakeRequest[] = [];
  /** All subscriptions, oldest first. */
  readonly subscriptions: FakeSubscription[] = [];
  renewal: Renewal = 'another';
  /** How often a token was asked for because the last one was refused. */
  renewals = 0;
  login: string | null = '700001';
  readonly #options: FakeMarketOptions;
  readonly #ended = new Set<string>();
  readonly #logins = new Map<string, string>();
  readonly #renewing: ((token: string) => void)[] = [];
  #tokens = 0;
  #token: string | null = null;
  #positions: readonly Position[];
  #pending: readonly object[] | undefined;
  readonly #prices = new Map<string, number>();
  /** The orders that have arrived, by their keys, with the gateway's final answers. */
  readonly #arrived = new Map<string, ArrivedOrder>();
  #version = 0;

  constructor(network: FakeNetwork, options: FakeMarketOptions) {
    this.network = network;
    this.#options = options;
    this.#positions = (options.positions ?? []).map(positionOf);
    this.#pending = options.orders;
    this.#newToken();
  }

  readonly token: TokenSource = async ({ force }) => {
    if (!force || this.#token === null) return this.#token;
    this.renewals += 1;
    if (this.renewal === 'waits') return new Promise((resolve) => this.#renewing.push(resolve));
    if (this.renewal === 'fails') throw protocolError('No token could be requested.');
    if (this.renewal === 'none') return null;
    if (this.renewal === 'same') return this.#token;
    const token = this.#newToken();
    if (this.renewal === 'refused') this.#ended.add(token);
    return token;
  };

  /** The input of the order that waits for its answer; null if there is none. */
  get order(): Readonly<Record<string, unknown>> | null {
    return (this.#waitingFor(ORDER)?.variables.input ?? null) as typeof this.order;
  }

  /** Moves the price of a symbol, and the profit of its positions if they have an opening price. */
  move(symbol: string, price: number): Promise<void> {
    this.#prices.set(symbol, price);
    const moved = this.#positions.filter((row) => row.symbol === symbol);
    return this.change(
      ...moved.map((row) => ({ id: row.id, priceCurrent: price, profit: profitAt(price, row) })),
    );
  }

  /** Changes positions, or opens those with new ids. */
  change(...rows: readonly (Partial<Position> & Pick<Position, 'id'>)[]): Promise<void> {
    const known = new Map(this.#positions.map((row) => [row.id, row]));
    for (const row of rows)
      known.set(row.id, { ...(known.get(row.id) ?? positionOf(row)), ...row });
    this.#positions = [...known.values()];
    const upserted = this.#positions.filter(({ id }) => rows.some((row) => row.id === id));
    return this.#emit({ upserted });
  }

  /** Closes positions. */
  close(...ids: readonly string[]): Promise<void> {
    this.#positions = this.#positions.filter(({ id }) => !ids.includes(id));
    return this.#emit({ closed: ids });
  }

  /** Ends the app and its requests, but not the market. The fake's `open` starts the app again. */
  kill(): void {
    this.network.kill();
    for (const request of this.waiting) request.isOver = true;
  }

  /** The gateway stops answering the service; `delay(false)` lets it answer again. */
  delay(isDelayed = true): Promise<void> {
    return this.#emit({ status: isDelayed ? 'DELAYED' : 'LIVE' });
  }

  /** Cuts all connections. None opens until `heal`. */
  async cut(): Promise<void> {
    this.network.reach = 'gone';
    for (const connection of [...this.network.connections]) connection.cut();
    for (const request of this.waiting) request.lose();
    await settled();
  }

  async heal(): Promise<void> {
    this.network.reach = 'there';
    this.network.comeBack('online');
    await settled();
  }

  /**
   * Accepts the order that is under way, or else the next one. A market order opens a position with this number, at the
   * price of the last `move`. Any other order becomes a pending order.
   */
  async accept(orderId: string = this.#nextId()): Promise<void> {
    const { variables } = await this.#next(ORDER);
    const { input } = this.#arrivedOrder(keyOf(variables));
    await this.#answerOrder({ __typename: 'OrderAccepted', orderId });
    if (input !== undefined) await this.#carryOut(orderId, Object(input));
  }

  /** The gateway refuses the order. */
  reject(message: string, error: string | null = null): Promise<void> {
    return this.#answerOrder({
      __typename: 'OrderRejected',
      sent: true,
      message,
      error,
      reason: null,
    });
  }

  /** The service does not send the order: its key is closed (`VOIDED`), or it came too late (`EXPIRED`). */
  leaveUnsent(error: 'VOIDED' | 'EXPIRED' = 'VOIDED'): Promise<void> {
    return this.#answerOrder({ __typename: 'OrderRejected', sent: false, error, reason: error });
  }

  /** The gateway gives no clear answer to the order. */
  leaveUnknown(): Promise<void> {
    const sentAt = new Date(this.network.serverMs).toISOString();
    return this.#answerOrder({ __typename: 'OrderOutcomeUnknown', sentAt });
  }

  /** Loses the order's answer. The client then asks for the outcome: the next call, such as `accept`, answers that. */
  async lose(): Promise<void> {
    (await this.#next(ORDER)).lose();
    await settled();
    // The client waits before it asks again: lets that time pass, so that the test need not.
    await this.network.time.pass(LONGEST_MS, () => this.#waitingFor(ORDER) !== undefined);
  }

  /** The service refuses the order with an error. */
  async fail(code: string, extensions: object = {}): Promise<void> {
    (await this.#next(ORDER)).fail({ code, ...extensions });
    await settled();
  }

  /**
   * Answers an operation of the app: its oldest waiting request, or else the subscription, with an event. An array is an
   * answer in parts, as with `@defer`, or several events. A name selects the operation with that name in its document.
   */
  async answer(answer: FakeResult | readonly FakeResult[], name = ''): Promise<void> {
    const isNamed = ({ query }: { readonly query: string }) => query.includes(name);
    const isOfApp = ({ query }: FakeSubscription) =>
      !selectedFields(query).some((field) => CLIENT_LISTS.includes(field.name));
    const results = [answer].flat().map(wireResult);
    const findRequest = () => this.waiting.find((each) => !each.isOver && isNamed(each));
    const findFollowed = () => this.subscriptions.filter((each) => isNamed(each) && isOfApp(each));
    const isFound = () => findRequest() !== undefined || findFollowed().length > 0;
    if (!(await this.network.time.pass(LONGEST_MS, isFound))) throw new Error(NOTHING_TO_ANSWER);
    const request = findRequest();
    if (request === undefined) {
      for (const each of findFollowed()) for (const result of results) each.next(result);
    } else if (Array.isArray(answer)) request.parts(results);
    else request.answer(results[0] as object);
    await settled();
  }

  /** Ends the token: open requests and sockets with it are refused. */
  async endToken(renewal: Renewal = 'another'): Promise<void> {
    this.renewal = renewal;
    const token = this.#token;
    if (token !== null) this.#ended.add(token);
    for (const subscription of this.subscriptions)
      if (subscription.token === token) subscription.cut(TOKEN_REFUSED);
    await settled();
  }

  /** The callers that wait for another token get one. */
  async renew(): Promise<void> {
    for (const resolve of this.#renewing.splice(0)) resolve(this.#newToken());
    await settled();
  }

  /** Signs another user in, or with null signs the user out. */
  async signIn(login: string | null): Promise<void> {
    this.login = login;
    this.#token = null;
    if (login !== null) this.#newToken();
    await settled();
  }

  async pass(seconds: number): Promise<void> {
    await this.network.time.pass(1_000 * seconds);
  }

  refuses(token: string): number | null {
    return this.#ended.has(token) || !this.#logins.has(token) ? TOKEN_REFUSED : null;
  }

  asked(request: FakeRequest): void {
    const isRefused = request.token !== '' && this.refuses(request.token) !== null;
    const isOrder = ORDER.test(request.query);
    const order: ArrivedOrder = isOrder ? this.#arrivedOrder(keyOf(request.variables)) : {};
    order.input ??= request.variables.input;
    const data = isRefused ? undefined : this.#dataFor(request);
    if (isRefused) request.fail(REFUSED);
    else if (order.outcome)
      request.answer({ data: { order: { ...order.outcome, replayed: true } } });
    else if (data !== undefined) request.answer({ data });
    else this.waiting = [...this.waiting.filter(({ isOver }) => !isOver), request];
  }

  subscribed(subscription: FakeSubscription): void {
    this.subscriptions.push(subscription);
    if (this.#options.positions === undefined) return;
    const whole = { ...this.#event(), snapshot: true, upserted: this.#positions };
    for (const name of CLIENT_LISTS) this.#send(subscription, name, whole);
  }

  /** Sends an event unchanged to the subscriptions of positions and of the account. */
  send(event: object): void {
    for (const subscription of this.subscriptions)
      for (const name of CLIENT_LISTS) this.#send(subscription, name, event, (changes) => changes);
  }

  #newToken(): string {
    this.#tokens += 1;
    const token = `token-${this.#tokens}`;
    if (this.login !== null) this.#logins.set(token, this.login);
    this.#token = token;
    return token;
  }

  /** The data of a request that is answered at once. */
  #dataFor({ query, token, variables }: FakeRequest): object | undefined {
    const session = { login: this.#logins.get(token) ?? null, group: 'retail' };
    if (query === PING) return { __typename: 'Query' };
    if (query === ACCOUNT_OPERATION) return { session };
    return this.#polled(query) ?? this.#options.data?.(query, variables);
  }

  #waitingFor(query: RegExp): FakeRequest | undefined {
    return this.waiting.find((request) => !request.isOver && query.test(request.query));
  }

  async #next(query: RegExp): Promise<FakeRequest> {
    await this.network.time.pass(LONGEST_MS, () => this.#waitingFor(query) !== undefined);
    const request = this.#waitingFor(query);
    if (request === undefined) throw new Error(NOTHING_TO_ANSWER);
    return request;
  }

  async #answerOrder(outcome: object): Promise<void> {
    const request = await this.#next(ORDER);
    const key = keyOf(request.variables);
    const order = { idempotencyKey: key, message: null, replayed: false, ...outcome };
    // An unknown outcome, which alone has `sentAt`, is not final.
    if (!('sentAt' in outcome)) this.#arrivedOrder(key).outcome = order;
    request.answer({ data: { order } });
    await settled();
  }

  #arrivedOrder(key: string): ArrivedOrder {
    const order = this.#arrived.get(key) ?? {};
    this.#arrived.set(key, order);
    return order;
  }

  #nextId(): string {
    const ids = this.#positions.map(({ id }) => Number(id)).filter(Number.isFinite);
    return String(Math.max(0, ...ids) + 1);
  }

  #carryOut(id: string, { symbol, side, size, amount, price, kind }: Values): Promise<void> {
    const units = Object(size).units ?? null;
    if (kind === 'MARKET') {
      const marketPrice = this.#prices.get(String(symbol)) ?? null;
      const invested = Object(size).amount ?? null;
      const prices = { priceOpen: marketPrice, priceCurrent: marketPrice };
      const opened = { id, symbol, side, units, invested, ...prices, profit: 0 };
      return this.change(opened as Partial<Position> & { readonly id: string });
    }
    this.#pending = [
      ...(this.#pending ?? []),
      { id, symbol, side, units, amount: Object(size).amount ?? amount ?? null, priceOpen: price },
    ];
    return this.#emit({ orders: this.#pending.slice(-1) });
  }

  async #emit(changes: object): Promise<void> {
    this.#version += 1;
    for (const each of this.subscriptions)
      for (const name of CLIENT_LISTS) this.#send(each, name, { ...this.#event(), ...changes });
    await settled();
  }

  #event() {
    return {
      __typename: 'PositionChanges',
      cursor: `v${this.#version}`,
      snapshot: false,
      upserted: [],
      closed: [],
      ticks: [],
      status: 'LIVE',
      asOf: new Date(this.network.serverMs).toISOString(),
      totals: this.#totals,
    };
  }

  #send(subscription: FakeSubscription, list: string, event: object, answerOf = selectedOf) {
    for (const { name, key, fields } of selectedFields(subscription.query)) {
      if (name !== list) continue;
      const changes = name === 'accountChanges' ? this.#accountEvent(event) : event;
      subscription.next({ data: { [key]: answerOf(changes, fields) } });
    }
  }

  /** The event as the account's subscription gets it. An event of positions is put into the account's form. */
  #accountEvent(event: object): object {
    if ('positions' in event) return event;
    const { upserted, closed, ticks, orders: placed, ...common } = event as Values;
    const { session } = this.#options;
    const fetchedAt = new Date(this.network.serverMs).toISOString();
    const isWhole = common.snapshot === true;
    return {
      ...common,
      __typename: 'AccountChanges',
      positions: { __typename: 'ChangedPositions', upserted, closed, ticks },
      orders: ordersOf(isWhole ? this.#pending : placed, fetchedAt),
      session:
        isWhole && session
          ? { __typename: 'Session', id: '1', login: this.login, fetchedAt, ...session }
          : null,
    };
  }

  get #totals() {
    return {
      __typename: 'PositionTotals',
      count: this.#positions.length,
      invested: sumOf(this.#positions.map(({ invested }) => invested)),
      profit: sumOf(this.#positions.map(({ profit }) => profit)),
    };
  }

  /** The lists as the client polls them while no socket opens. */
  #polled(query: string): object | undefined {
    const { positions, session } = this.#options;
    if (positions === undefined || !query.startsWith('query Polled')) return undefined;
    const all = {
      positions: this.#positions,
      positionTotals: this.#totals,
      orders: this.#pending,
      session: session && { login: this.login, ...session },
    };
    return selectedOf(all, selectedFields(query)) as object;
  }
}

/** The orders of an event; null if the event has none. */
function ordersOf(rows: unknown, fetchedAt: string): object | null {
  if (!Array.isArray(rows)) return null;
  const upserted = rows.map((row) => ({ __typename: 'Order', ...row }));
  return { __typename: 'ChangedOrders', upserted, closed: [], fetchedAt };
}

function keyOf({ input, key = Object(input).idempotencyKey }: Values): string {
  return String(key);
}

function wireResult({ data, errors }: FakeResult): object {
  const own = errors?.map(({ message = 'refused', ...extensions }) => ({ message, extensions }));
  return { ...(data !== undefined && { data }), ...(own && { errors: own }) };
}

function profitAt(price: number, { side, priceOpen, units, profit }: Position): number | null {
  if (priceOpen === null || units === null) return profit;
  const gain = (price - priceOpen) * units;
  return side === 'SELL' ? -gain : gain;
}

function positionOf(row: Partial<Position>): Position {
  const none = Object.fromEntries(POSITION_FIELDS.split(' ').map((field) => [field, null]));
  return { __typename: 'Position', ...none, ...row } as unknown as Position;
}

function sumOf(amounts: readonly (number | null)[]): number | null {
  return amounts.reduce((sum, each) => (sum === null || each === null ? null : sum + each), 0);
}
