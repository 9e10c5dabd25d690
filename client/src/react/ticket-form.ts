import { AS_BEFORE, formerSignIns, type OwnPlaceOptions } from '../former-sign-in.ts';
import type { LimitOrderInput, OrderInput } from '../orders/order-input.ts';
import type { OrderOutcome } from '../orders/outcome.ts';
import type { OrderProgress, PlaceOptions, Ticket } from '../orders/ticket.ts';
import { type AnyClient, featureOf } from './any-client.ts';

/** The state of a form's order. */
export type TicketState =
  | { readonly status: 'ready'; readonly outcome: null }
  /** It is under way. The outcome is the former one where an order is placed again. */
  | {
      readonly status: 'placing';
      readonly outcome: OrderOutcome | null;
      readonly progress: OrderProgress;
    }
  | Shown<OrderOutcome>;

/** Each outcome beside its own status. */
type Shown<Outcome extends OrderOutcome> = Outcome extends OrderOutcome
  ? { readonly status: Outcome['status']; readonly outcome: Outcome }
  : never;

/** One order for one form, however often it is placed. */
export type TicketForm = TicketState & {
  /** Places the order. A second tap joins the first; another input than one that may have been sent is refused. */
  place(input: OrderInput, options?: PlaceOptions): Promise<OrderOutcome>;
  placeLimit(input: LimitOrderInput, options?: PlaceOptions): Promise<OrderOutcome>;
  /** Places the same order again: asks what became of it, or sends what was unsent. Null where none was placed. */
  retry(options?: PlaceOptions): Promise<OrderOutcome | null>;
  /** Begins another order. While one is being placed it does nothing, so that its outcome is seen. */
  reset(): void;
};

type Placing = (ticket: Ticket, options?: PlaceOptions) => Promise<OrderOutcome>;

const READY: TicketState = { status: 'ready', outcome: null };

/** Holds a form's ticket and what is shown of it. */
export class TicketFormStore {
  readonly client: AnyClient;
  readonly serverSnapshot: TicketForm;
  readonly #listeners = new Set<() => void>();
  #end: (() => void) | null = null;
  #snapshot: TicketForm;
  /** Null before the order is placed: a form that is only looked at has no key. */
  #ticket: Ticket | null = null;
  #placing: Placing | null = null;
  #outcome: OrderOutcome | null = null;
  #underWay = 0;
  #progress: OrderProgress = 'sending';
  /** The account of the order, as far as the client knew it at the tap. */
  #account: string | null = null;

  constructor(client: AnyClient) {
    featureOf(client, 'orders');
    this.client = client;
    this.serverSnapshot = this.#describe(READY);
    this.#snapshot = this.serverSnapshot;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    const own = () => listener();
    this.#listeners.add(own);
    this.#end ??= this.client.onAccountChange((login) => this.#forgetOthers(login));
    // Somebody else may have signed in while the form was hidden.
    this.#forgetOthers(this.client.login);
    return () => {
      this.#listeners.delete(own);
      if (this.#listeners.size > 0) return;
      this.#end?.();
      this.#end = null;
    };
  };

  readonly snapshot = (): TicketForm => this.#snapshot;

  readonly #place = (input: OrderInput, options?: PlaceOptions): Promise<OrderOutcome> => {
    const placed = copied(input);
    return this.#run((ticket, own) => ticket.place(placed, own), options);
  };

  readonly #placeLimit = (
    input: LimitOrderInput,
    options?: PlaceOptions,
  ): Promise<OrderOutcome> => {
    const placed = copied(input);
    return this.#run((ticket, own) => ticket.placeLimit(placed, own), options);
  };

  readonly #retry = async (options?: PlaceOptions): Promise<OrderOutcome | null> =>
    this.#placing && (await this.#run(this.#placing, { ...options, [AS_BEFORE]: true }));

  readonly #reset = (): void => {
    if (this.#underWay === 0) this.#forget();
  };

  async #run(placing: Placing, options?: OwnPlaceOptions): Promise<OrderOutcome> {
    this.#ticket ??= featureOf(this.client, 'orders').ticket();
    const ticket = this.#ticket;
    // An order that may have been sent already is the one that `retry` repeats, whatever is placed after it.
    if (this.#underWay === 0 && (this.#outcome === null || this.#outcome.status === 'unsent'))
      this.#placing = placing;
    if (this.#underWay === 0) this.#progress = 'sending';
    this.#underWay += 1;
    this.#account = this.client.login;
    this.#publish();
    const onProgress = (progress: OrderProgress) => {
      if (ticket === this.#ticket) {
        this.#progress = progress;
        this.#publish();
      }
      // The app's own comes last, because it may throw.
      options?.onProgress?.(progress);
    };
    const outcome = await placing(ticket, { ...options, onProgress });
    // The form may stand for another order by now, where somebody else has signed in.
    if (ticket !== this.#ticket) return outcome;
    this.#underWay -= 1;
    if (this.#tells(outcome)) this.#outcome = outcome;
    this.#publish();
    return outcome;
  }

  /** Input that was refused beside an order that was sent says nothing about that order. */
  #tells(outcome: OrderOutcome): boolean {
    if (outcome.status !== 'unsent') return true;
    return this.#underWay === 0 && (this.#outcome === null || this.#outcome.status === 'unsent');
  }

  /** An order is shown to nobody but the account that placed it; of one without an account it may have been another's. */
  #forgetOthers(login: string | null): void {
    const ticket = this.#ticket;
    const former = ticket && formerSignIns.get(ticket)?.login;
    const account = ticket?.account ?? former ?? this.#account;
    if (login !== null && login !== account) this.#forget();
  }

  #forget(): void {
    this.#ticket = null;
    this.#placing = null;
    this.#outcome = null;
    this.#underWay = 0;
    this.#account = null;
    this.#publish();
  }

  #publish(): void {
    const state = this.#state();
    const shown = this.#snapshot;
    const isSame = shown.status === state.status && shown.outcome === state.outcome;
    if (isSame && progressOf(shown) === progressOf(state)) return;
    this.#snapshot = this.#describe(state);
    for (const listener of [...this.#listeners]) listener();
  }

  #state(): TicketState {
    const outcome = this.#outcome;
    if (this.#underWay > 0) return { status: 'placing', outcome, progress: this.#progress };
    // The union says for each status which outcome it has, which the compiler does not see of all at once.
    return outcome === null ? READY : ({ status: outcome.status, outcome } as TicketState);
  }

  #describe(state: TicketState): TicketForm {
    return Object.freeze({
      ...state,
      place: this.#place,
      placeLimit: this.#placeLimit,
      retry: this.#retry,
      reset: this.#reset,
    });
  }
}

/** The input as it was placed, which `retry` places again whatever the app does with its object. */
function copied<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const fields = Object.entries(value).map(([name, field]) => [name, copied(field)]);
  return Object.fromEntries(fields) as T;
}

function progressOf(state: TicketState): OrderProgress | null {
  return state.status === 'placing' ? state.progress : null;
}
