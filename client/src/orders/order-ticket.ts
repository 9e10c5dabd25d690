import type { TradingGraphError } from '../errors.ts';
import { AS_BEFORE, formerSignIns } from '../former-sign-in.ts';
import { MAX_MS, withinTime } from '../request/deadline.ts';
import { asTradingGraphError, disposedError } from '../request/failures.ts';
import { unsendable } from '../request/finite-variables.ts';
import type { SignIn } from '../sign-in.ts';
import { canonicalInput } from './canonical-input.ts';
import { digestOf } from './digest.ts';
import type { LimitOrderInput, OrderInput } from './order-input.ts';
import { type NewKey, OrderKey, type UsedKey } from './order-key.ts';
import { LIMIT_ORDER, ORDER, type OrderKind, withoutKind } from './order-kind.ts';
import type { OrderOutcome } from './outcome.ts';
import { type Order, seekOutcome } from './seek-outcome.ts';
import type { PlaceOptions, Ticket } from './ticket.ts';
import type { TicketContext } from './ticket-context.ts';

const WITHIN_MS = 60_000;
/** The user has seen a price, which is another one by then. */
const MARKET_WAIT_MS = 5_000;

export class OrderTicket implements Ticket {
  readonly #context: TicketContext;
  #key: OrderKey;
  #running: Promise<OrderOutcome> | null = null;
  #final: OrderOutcome | null = null;

  constructor(context: TicketContext, key: string, used: UsedKey | NewKey) {
    this.#context = context;
    this.#key = new OrderKey(context, key, used);
  }

  get idempotencyKey(): string {
    return this.#key.key;
  }

  get isDurable(): boolean {
    return this.#key.isDurable;
  }

  get account(): string | null {
    return this.#key.account;
  }

  place(input: OrderInput, options?: PlaceOptions): Promise<OrderOutcome> {
    return this.#place(ORDER, input, options);
  }

  placeLimit(input: LimitOrderInput, options?: PlaceOptions): Promise<OrderOutcome> {
    return this.#place(LIMIT_ORDER, input, options);
  }

  async #place<Input extends object>(
    { name, operation, kindOf }: OrderKind<Input>,
    input: Input,
    options?: PlaceOptions,
  ): Promise<OrderOutcome> {
    // An app without types may give null.
    const { withinMs = WITHIN_MS, onProgress } = options ?? {};
    const former = options && AS_BEFORE in options ? formerSignIns.get(this) : undefined;
    const key = this.#key;
    let text: string;
    try {
      text = canonicalInput(input);
    } catch (error) {
      return this.#unsent(asTradingGraphError(error));
    }
    const copy = JSON.parse(text) as Input;
    // The key makes the digests of two equal orders differ, so that storage does not show them to be equal.
    const digest = digestOf(`${this.idempotencyKey} ${name} ${withoutKind(copy)}`);
    if (key.digest !== null && key.digest !== digest) {
      return this.#unsent(unsendable('input.idempotencyKey', 'stands for another order already'));
    }
    if (this.#final !== null) return this.#final;
    key.digest = digest;
    const { idempotencyKey } = this;
    const kind = kindOf(copy);
    const maxWaitMs = key.maxWaitMs ?? (kind === 'MARKET' ? MARKET_WAIT_MS : MAX_MS);
    const ms = Number.isFinite(withinMs) ? Math.min(Math.max(withinMs, 0), MAX_MS) : WITHIN_MS;
    const order: Order = {
      key,
      maxWaitMs,
      closingMs: ms / 2,
      onProgress,
      send: (own) => {
        const { keyMade } = key;
        const sendBefore = key.sendBefore(maxWaitMs);
        const sent = { ...copy, kind, idempotencyKey, sendBefore, keyMade };
        return this.#context.core.request(operation, { input: sent }, { ...own, repeats: false });
      },
    };
    this.#running ??= this.#run(order, ms, former);
    return this.#running;
  }

  async #run(order: Order, withinMs: number, former?: SignIn): Promise<OrderOutcome> {
    const context = this.#context;
    const { core, disposal, underWay } = context;
    const { key } = order;
    underWay.add(key.key);
    key.use(former);
    let isTold = false;
    let outcome: OrderOutcome;
    try {
      outcome = await withinTime(core.environment, withinMs, disposal, (deadline) =>
        seekOutcome(context, order, deadline),
      );
      isTold = true;
    } catch (error) {
      outcome = this.#untold(disposal.aborted ? disposedError() : asTradingGraphError(error));
    }
    const { status } = outcome;
    if (key.signIn !== null) formerSignIns.set(this, key.signIn);
    if (status !== 'unknown') {
      key.isInDoubt = false;
      await key.delete();
    }
    // A tap joins this placing as long as it runs, so that nothing may come between its end and what the next tap finds.
    underWay.delete(key.key);
    this.#running = null;
    if (status === 'accepted' || status === 'rejected') this.#final = outcome;
    if (status === 'unsent') {
      const { maxWaitMs } = key;
      // The server refuses whatever comes with this key. A later tap is another order, since this one was surely not placed.
      if (isTold) this.#key = new OrderKey(context, core.environment.randomId(), { maxWaitMs });
      else key.reset();
    }
    return outcome;
  }

  /** The outcome of an order that no answer has told. */
  #untold(error: TradingGraphError): OrderOutcome {
    const { idempotencyKey } = this;
    const { isInDoubt, usedAt } = this.#key;
    if (!isInDoubt) return this.#unsent(error);
    const sentAt = new Date(usedAt ?? this.#context.core.environment.now()).toISOString();
    return { status: 'unknown', idempotencyKey, sentAt, message: null, error };
  }

  #unsent(error: TradingGraphError): OrderOutcome {
    return { status: 'unsent', idempotencyKey: this.idempotencyKey, error };
  }
}
