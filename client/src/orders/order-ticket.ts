import type { TradingGraphError } from '../errors.ts';
import { LONGEST_MS, withinTime } from '../request/deadline.ts';
import { disposedError } from '../request/failures.ts';
import { unsendable } from '../request/finite-variables.ts';
import { asError } from './as-error.ts';
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
    { withinMs = WITHIN_MS, onProgress }: PlaceOptions = {},
  ): Promise<OrderOutcome> {
    const key = this.#key;
    let text: string;
    try {
      text = canonicalInput(input);
    } catch (error) {
      return this.#unsent(asError(error));
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
    const maxWaitMs = key.maxWaitMs ?? (kind === 'MARKET' ? MARKET_WAIT_MS : LONGEST_MS);
    const ms = Number.isFinite(withinMs) ? withinMs : WITHIN_MS;
    const order: Order = {
      key,
      maxWaitMs,
      closingMs: ms / 2,
      onProgress,
      send: (own) => {
        const sent = { ...copy, kind, idempotencyKey, sendBefore: key.sendBefore(maxWaitMs) };
        return this.#context.core.request(operation, { input: sent }, { ...own, repeats: false });
      },
    };
    this.#running ??= this.#run(order, ms);
    return this.#running;
  }

  async #run(order: Order, withinMs: number): Promise<OrderOutcome> {
    const { core, disposal, underWay } = this.#context;
    const { key } = order;
    underWay.add(key.key);
    key.use();
    try {
      const outcome = await withinTime(core.environment, withinMs, disposal, (deadline) =>
        seekOutcome(this.#context, order, deadline),
      );
      return await this.#conclude(outcome);
    } catch (error) {
      return await this.#concludeWithout(disposal.aborted ? disposedError() : asError(error));
    } finally {
      underWay.delete(key.key);
      this.#running = null;
      if (this.#final === null && !key.isInDoubt) key.reset();
    }
  }

  async #conclude(outcome: OrderOutcome): Promise<OrderOutcome> {
    if (outcome.status === 'unknown') return outcome;
    const context = this.#context;
    const key = this.#key;
    key.isInDoubt = false;
    // The server refuses whatever comes with this key. A later tap is another order, since this one was surely not placed.
    if (outcome.status === 'unsent') {
      const { maxWaitMs } = key;
      this.#key = new OrderKey(context, context.core.environment.randomId(), { maxWaitMs });
    } else this.#final = outcome;
    await key.delete();
    return outcome;
  }

  /** Concludes an order whose outcome no answer has told. */
  async #concludeWithout(error: TradingGraphError): Promise<OrderOutcome> {
    const { idempotencyKey } = this;
    const { isInDoubt, usedAt } = this.#key;
    if (!isInDoubt) {
      await this.#key.delete();
      return this.#unsent(error);
    }
    const sentAt = new Date(usedAt ?? this.#context.core.environment.now()).toISOString();
    return { status: 'unknown', idempotencyKey, sentAt, message: null, error };
  }

  #unsent(error: TradingGraphError): OrderOutcome {
    return { status: 'unsent', idempotencyKey: this.idempotencyKey, error };
  }
}
