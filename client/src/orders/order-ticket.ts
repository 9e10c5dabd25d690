import { TradingGraphError } from '../errors.ts';
import { fireAndForget } from '../fire-and-forget.ts';
import { MAX_MS } from '../request/deadline.ts';
import { asTradingGraphError } from '../request/failures.ts';
import { unsendable } from '../request/finite-variables.ts';
import type { SignIn } from '../sign-in.ts';
import { Followers } from './followers.ts';
import { Order } from './order.ts';
import type { LimitOrderInput, OrderInput } from './order-input.ts';
import type { OrderOutcome } from './outcome.ts';
import { type Placed, placedLimitOrder, placedOrder } from './placed.ts';
import type { OrderProgress, PlaceOptions, Ticket, TicketOptions, TicketState } from './ticket.ts';
import type { TicketContext } from './ticket-context.ts';

const WITHIN_MS = 60_000;

export const READY: TicketState = Object.freeze({ status: 'ready', outcome: null });

/** The order that a form shows, and the order that its next tap places. */
export class OrderTicket implements Ticket {
  readonly #context: TicketContext;
  #options: TicketOptions;
  readonly #followers: Followers<TicketState>;
  /** Null before the first tap, because a form has no key until then. */
  #order: Order | null;
  /** The last order. Its owner is the ticket's owner. */
  #lastOrder: Order | null;
  #placed: Placed | null = null;
  #running: Promise<OrderOutcome> | null = null;
  #outcome: OrderOutcome | null;
  #progress: OrderProgress = 'sending';
  #state: TicketState;

  /** Makes a new ticket, or with `resumed` the ticket of an order from before the app ended. */
  constructor(
    context: TicketContext,
    options: TicketOptions,
    resumed?: { readonly order: Order; readonly outcome: OrderOutcome },
  ) {
    this.#context = context;
    this.#options = options;
    this.#outcome = resumed?.outcome ?? null;
    this.#lastOrder = resumed?.order ?? null;
    // The server refuses any order with a key that it has reported as unsent.
    const isUsedUp = this.#outcome?.status === 'unsent';
    this.#order = isUsedUp ? null : this.#lastOrder;
    this.#state = this.#described();
    this.#followers = new Followers(
      context.core,
      () => this.state(),
      (login) => {
        // An order is shown only to its own account. An order without a known account may belong to another user.
        if (this.#state !== READY && this.#lastOrder?.login !== login) this.#begin();
      },
    );
  }

  get idempotencyKey(): string {
    return this.#current.key;
  }

  get isDurable(): boolean {
    return this.#current.isDurable;
  }

  get account(): string | null {
    return this.#order?.account ?? null;
  }

  async place(input: OrderInput, options?: PlaceOptions): Promise<OrderOutcome> {
    return this.#place(() => placedOrder(input), options);
  }

  async placeLimit(input: LimitOrderInput, options?: PlaceOptions): Promise<OrderOutcome> {
    return this.#place(() => placedLimitOrder(input), options);
  }

  async retry(options?: PlaceOptions): Promise<OrderOutcome | null> {
    // An order of an earlier run has no input here, and is in doubt.
    const hasOrder = this.#placed !== null || this.#order?.isInDoubt === true;
    if (!hasOrder) return null;
    return this.#isFinal ? this.#outcome : this.#start(options, this.#lastOrder?.owner);
  }

  reset(): void {
    if (this.#running === null) this.#begin();
  }

  readonly state = (): TicketState => {
    this.#followers.check();
    return this.#state;
  };

  readonly follow = (listener: (state: TicketState) => void): (() => void) =>
    this.#followers.add(listener);

  get #current(): Order {
    if (this.#order === null) {
      const { idempotencyKey: key, maxWaitMs } = this.#options;
      this.#order = new Order(this.#context, { key, isGiven: key !== undefined, maxWaitMs });
      // Only the first order has the given key.
      this.#options = { maxWaitMs };
    }
    return this.#order;
  }

  get #isFinal(): boolean {
    const status = this.#outcome?.status;
    return status === 'accepted' || status === 'rejected';
  }

  #place(read: () => Placed, options?: PlaceOptions): OrderOutcome | Promise<OrderOutcome> {
    const order = this.#current;
    let placed: Placed | null = null;
    let refusal: TradingGraphError | null = null;
    try {
      placed = read();
    } catch (error) {
      refusal = asTradingGraphError(error);
    }
    if (order.belongsToOtherInput(placed)) {
      if (this.#running !== null) return this.#notPlaced('UNDER_WAY', order);
      if (order.isInDoubt) return this.#notPlaced('IN_DOUBT', order);
      refusal ??= unsendable('input.idempotencyKey', 'already belongs to another order');
    }
    if (refusal !== null) return this.#refused(refusal, order);
    if (this.#isFinal) return this.#outcome as OrderOutcome;
    if (this.#running === null) this.#placed = placed;
    return this.#start(options);
  }

  /** The outcome for a different input, which is not placed while an order is in doubt or under way. */
  #notPlaced(code: 'UNDER_WAY' | 'IN_DOUBT', { key, sentAt }: Order): OrderOutcome {
    const former = this.#outcome?.status === 'unknown' ? this.#outcome : null;
    const message = 'This input was not sent: the order that was sent before has no outcome yet.';
    const error = new TradingGraphError(message, { code, retryable: false, cause: former?.error });
    const own = { status: 'unknown', idempotencyKey: key, sentAt, message: null } as const;
    return { ...own, ...former, error };
  }

  #refused(error: TradingGraphError, order: Order): OrderOutcome {
    const outcome: OrderOutcome = { status: 'unsent', idempotencyKey: order.key, error };
    if (this.#placed === null && this.#lastOrder === null) {
      order.noteOwner();
      this.#lastOrder = order;
    }
    // A refused input does not change the outcome of an order that was sent.
    if (this.#running === null && !this.#isFinal) this.#setOutcome(outcome);
    return outcome;
  }

  /** Places the order, or joins its placing. */
  #start(options?: PlaceOptions | null, former?: SignIn | null): Promise<OrderOutcome> {
    if (this.#running !== null) return this.#running;
    const order = this.#current;
    order.begin(this.#placed, former);
    this.#lastOrder = order;
    this.#progress = 'sending';
    // An app without types may pass null.
    this.#running = this.#run(order, this.#placed, options ?? {});
    this.#report(order, this.#placed, null);
    this.#publish();
    return this.#running;
  }

  async #run(
    order: Order,
    placed: Placed | null,
    { withinMs = WITHIN_MS, onProgress }: PlaceOptions,
  ): Promise<OrderOutcome> {
    const { outcome, isKeyUsedUp } = await order.place(placed, {
      withinMs: Number.isFinite(withinMs) ? Math.min(Math.max(withinMs, 0), MAX_MS) : WITHIN_MS,
      // An order whose input is not known cannot be sent again.
      maxWaitMs: placed === null ? 0 : (order.maxWaitMs ?? placed.maxWaitMs),
      onProgress: (progress) => {
        if (order === this.#order) {
          this.#progress = progress;
          this.#publish();
        }
        // The app's function is called last, because it may throw.
        onProgress?.(progress);
      },
    });
    this.#report(order, placed, outcome);
    // The form may show another order by now, if another user has signed in.
    if (order !== this.#order) return outcome;
    this.#running = null;
    // The key is used up, and the order was certainly not placed: a later tap places another order.
    if (isKeyUsedUp) this.#order = null;
    this.#setOutcome(outcome);
    return outcome;
  }

  /** Reports this order to the listeners of all orders. */
  #report(order: Order, placed: Placed | null, outcome: OrderOutcome | null): void {
    if (placed === null) return;
    this.#context.list.put(order, { key: order.key, input: placed.input, outcome, ticket: this });
  }

  /** Begins another order. The outcome of the former order has been shown. */
  #begin(): void {
    if (this.#running === null && this.#order?.isInDoubt === false) {
      fireAndForget(this.#order.forget());
    }
    this.#order = null;
    this.#lastOrder = null;
    this.#placed = null;
    this.#running = null;
    this.#setOutcome(null);
  }

  #setOutcome(outcome: OrderOutcome | null): void {
    this.#outcome = outcome;
    this.#publish();
  }

  #publish(): void {
    const state = this.#described();
    const { status, outcome } = this.#state;
    const isSame = status === state.status && outcome === state.outcome;
    if (isSame && progressOf(this.#state) === progressOf(state)) return;
    this.#state = state;
    this.#followers.notify();
  }

  #described(): TicketState {
    const outcome = this.#outcome;
    if (this.#running) return { status: 'placing', outcome, progress: this.#progress };
    // The compiler does not see that each status has its own outcome.
    return outcome === null ? READY : ({ status: outcome.status, outcome } as TicketState);
  }
}

function progressOf(state: TicketState): OrderProgress | null {
  return state.status === 'placing' ? state.progress : null;
}
