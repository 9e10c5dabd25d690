import { TradingGraphError } from '../errors.ts';
import { MAX_MS } from '../request/deadline.ts';
import { asTradingGraphError } from '../request/failures.ts';
import { unsendable } from '../request/finite-variables.ts';
import type { SignIn } from '../sign-in.ts';
import { canonicalInput } from './canonical-input.ts';
import { digestOf } from './digest.ts';
import { Followers } from './followers.ts';
import type { LimitOrderInput, OrderInput } from './order-input.ts';
import { OrderKey } from './order-key.ts';
import { LIMIT_ORDER, ORDER, type OrderKind, withoutKind } from './order-kind.ts';
import type { OrderOutcome } from './outcome.ts';
import { findOutcome, type Order } from './seek-outcome.ts';
import type { OrderProgress, PlaceOptions, Ticket, TicketOptions, TicketState } from './ticket.ts';
import type { TicketContext } from './ticket-context.ts';

const WITHIN_MS = 60_000;
/** The user has seen a price, which is another one by then. */
const MARKET_WAIT_MS = 5_000;

export const READY: TicketState = Object.freeze({ status: 'ready', outcome: null });

/** The order that a key stands for, with a copy of its input. */
interface Placed {
  readonly operation: OrderKind<OrderInput | LimitOrderInput>['operation'];
  readonly input: OrderInput | LimitOrderInput;
}

export class OrderTicket implements Ticket {
  readonly #context: TicketContext;
  #options: TicketOptions;
  readonly #followers: Followers<TicketState>;
  /** Null while it has none: a form that is only looked at has no key. */
  #key: OrderKey | null;
  #placed: Placed | null = null;
  #running: Promise<OrderOutcome> | null = null;
  #outcome: OrderOutcome | null;
  #progress: OrderProgress = 'sending';
  #state: TicketState;
  /** The key of the last order, whose account's the ticket is. */
  #lastKey: OrderKey | null;

  /** A new one, or that of an order of an earlier run. */
  constructor(
    context: TicketContext,
    options: TicketOptions,
    resumed?: { readonly key: OrderKey; readonly outcome: OrderOutcome },
  ) {
    this.#context = context;
    this.#options = options;
    this.#outcome = resumed?.outcome ?? null;
    // The server refuses whatever comes with a key that it has told to be unsent.
    this.#key = (this.#outcome?.status !== 'unsent' && resumed?.key) || null;
    this.#lastKey = resumed?.key ?? null;
    this.#state = this.#described();
    this.#followers = new Followers(
      context.core,
      () => this.state(),
      (login) => {
        // An order is shown to nobody but the account that placed it; of one without an account it may have been another's.
        if (this.#state !== READY && this.#lastKey?.login !== login) this.#begin();
      },
    );
  }

  get idempotencyKey(): string {
    return this.#ownKey.key;
  }

  get isDurable(): boolean {
    return this.#ownKey.isDurable;
  }

  get account(): string | null {
    return this.#key?.account ?? null;
  }

  place(input: OrderInput, options?: PlaceOptions): Promise<OrderOutcome> {
    return this.#place(ORDER, input, options);
  }

  placeLimit(input: LimitOrderInput, options?: PlaceOptions): Promise<OrderOutcome> {
    return this.#place(LIMIT_ORDER, input, options);
  }

  async retry(options?: PlaceOptions): Promise<OrderOutcome | null> {
    const isOfFormerRun = this.#placed === null && this.#key?.isInDoubt;
    if (this.#placed === null && !isOfFormerRun) return null;
    return this.#isFinal ? this.#outcome : this.#start(options, this.#lastKey?.owner);
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

  get #ownKey(): OrderKey {
    if (this.#key === null) {
      const { idempotencyKey = this.#context.core.environment.randomId(), maxWaitMs } =
        this.#options;
      this.#key = new OrderKey(this.#context, idempotencyKey, this.#options);
      // The order after it is another one.
      this.#options = { maxWaitMs };
    }
    return this.#key;
  }

  get #isFinal(): boolean {
    const status = this.#outcome?.status;
    return status === 'accepted' || status === 'rejected';
  }

  async #place<Input extends OrderInput | LimitOrderInput>(
    { name, operation, needsKind }: OrderKind<Input>,
    given: Input,
    options?: PlaceOptions,
  ): Promise<OrderOutcome> {
    const key = this.#ownKey;
    let placed: Placed | null = null;
    let digest: string | null = null;
    let refusal: TradingGraphError | null = null;
    try {
      const input = JSON.parse(canonicalInput(given)) as Input;
      if (needsKind && !('kind' in input))
        throw unsendable('input.kind', "is missing: 'MARKET', or 'PENDING' with a price");
      placed = { operation: operation as Placed['operation'], input };
      // The key makes the digests of two equal orders differ, so that storage does not show them to be equal.
      digest = digestOf(`${key.key} ${name} ${withoutKind(input)}`);
    } catch (error) {
      refusal = asTradingGraphError(error);
    }
    if (key.digest !== null && key.digest !== digest) {
      if (this.#running !== null) return this.#refused('UNDER_WAY', key);
      if (key.isInDoubt) return this.#refused('IN_DOUBT', key);
      refusal ??= unsendable('input.idempotencyKey', 'stands for another order already');
    }
    if (refusal !== null) {
      const outcome: OrderOutcome = { status: 'unsent', idempotencyKey: key.key, error: refusal };
      if (this.#placed === null && this.#lastKey === null) {
        key.noteOwner();
        this.#lastKey = key;
      }
      // Input that is refused beside an order that was sent says nothing about that order.
      if (this.#running === null && !this.#isFinal) this.#tell(outcome);
      return outcome;
    }
    if (this.#isFinal) return this.#outcome as OrderOutcome;
    key.digest = digest;
    if (this.#running === null) this.#placed = placed;
    return this.#start(options);
  }

  /** The order that was sent, or is on its way, in place of another one that is not placed beside it. */
  #refused(code: 'UNDER_WAY' | 'IN_DOUBT', { key, sentAt }: OrderKey): OrderOutcome {
    const former = this.#outcome?.status === 'unknown' ? this.#outcome : null;
    const message = 'This input was not sent: the order that was has no outcome yet.';
    const error = new TradingGraphError(message, { code, retryable: false, cause: former?.error });
    const own = { status: 'unknown', idempotencyKey: key, sentAt, message: null } as const;
    return { ...own, ...former, error };
  }

  /** Places the order, or joins its placing. */
  #start(options?: PlaceOptions | null, signIn?: SignIn | null): Promise<OrderOutcome> {
    if (this.#running !== null) return this.#running;
    const key = this.#ownKey;
    this.#context.underWay.add(key.key);
    key.use(signIn);
    this.#lastKey = key;
    this.#progress = 'sending';
    // An app without types may give null.
    this.#running = this.#run(key, this.#placed, options ?? {});
    this.#note(key, this.#placed, null);
    this.#publish();
    return this.#running;
  }

  async #run(
    key: OrderKey,
    placed: Placed | null,
    { withinMs = WITHIN_MS, onProgress }: PlaceOptions,
  ): Promise<OrderOutcome> {
    const context = this.#context;
    const ms = Number.isFinite(withinMs) ? Math.min(Math.max(withinMs, 0), MAX_MS) : WITHIN_MS;
    const order = this.#orderOf(key, ms, (progress) => {
      if (key === this.#key) {
        this.#progress = progress;
        this.#publish();
      }
      // The app's own comes last, because it may throw.
      onProgress?.(progress);
    });
    const { outcome, isTold } = await findOutcome(context, order, ms);
    if (outcome.status === 'unknown') context.underWay.delete(key.key);
    else void key.settle(outcome);
    const isUnsent = outcome.status === 'unsent';
    if (isUnsent && !isTold) key.reset();
    this.#note(key, placed, outcome);
    // The form may stand for another order by now, where somebody else has signed in.
    if (key !== this.#key) return outcome;
    this.#running = null;
    // A later tap is another order, since this one was surely not placed, and its key is used up.
    if (isUnsent && isTold) this.#key = null;
    this.#tell(outcome);
    return outcome;
  }

  /** Tells those who follow all orders of this one. */
  #note(own: OrderKey, placed: Placed | null, outcome: OrderOutcome | null): void {
    if (placed === null) return;
    this.#context.list.put(own, { key: own.key, input: placed.input, outcome, ticket: this });
  }

  #orderOf(key: OrderKey, withinMs: number, onProgress: (progress: OrderProgress) => void): Order {
    const own = { key, closingMs: withinMs / 2, onProgress };
    if (this.#placed === null) return { ...own, maxWaitMs: 0 };
    const { operation, input } = this.#placed;
    const isMarket = 'kind' in input && input.kind === 'MARKET';
    const maxWaitMs = key.maxWaitMs ?? (isMarket ? MARKET_WAIT_MS : MAX_MS);
    return {
      ...own,
      maxWaitMs,
      send: (options) => {
        const dates = { sendBefore: key.sendBefore(maxWaitMs), keyMade: key.keyMade };
        const sent = { ...input, idempotencyKey: key.key, ...dates };
        return this.#context.core.request(
          operation,
          { input: sent },
          { ...options, repeats: false },
        );
      },
    };
  }

  /** Begins another order; what is known of the former one has been seen. */
  #begin(): void {
    if (this.#running === null && !this.#key?.isInDoubt) this.#key?.forget().catch(() => {});
    this.#key = null;
    this.#lastKey = null;
    this.#placed = null;
    this.#running = null;
    this.#tell(null);
  }

  #tell(outcome: OrderOutcome | null): void {
    this.#outcome = outcome;
    this.#publish();
  }

  #publish(): void {
    const state = this.#described();
    const { status, outcome } = this.#state;
    const isSame = status === state.status && outcome === state.outcome;
    if (isSame && progressOf(this.#state) === progressOf(state)) return;
    this.#state = state;
    this.#followers.tell();
  }

  #described(): TicketState {
    const outcome = this.#outcome;
    if (this.#running) return { status: 'placing', outcome, progress: this.#progress };
    // The union says for each status which outcome it has, which the compiler does not see of all at once.
    return outcome === null ? READY : ({ status: outcome.status, outcome } as TicketState);
  }
}

function progressOf(state: TicketState): OrderProgress | null {
  return state.status === 'placing' ? state.progress : null;
}
