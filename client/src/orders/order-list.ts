import type { Core } from '../core.ts';
import { Followers } from './followers.ts';
import type { LimitOrderInput, OrderInput } from './order-input.ts';
import type { OrderOutcome } from './outcome.ts';
import type { Ticket } from './ticket.ts';

/** An order of this run of the app. */
export interface FollowedOrder {
  readonly key: string;
  /** The input as it was placed. */
  readonly input: OrderInput | LimitOrderInput;
  /** Null while it is under way. */
  readonly outcome: OrderOutcome | null;
  /** Its `retry` asks again, until the ticket begins another order. */
  readonly ticket: Ticket;
}

/** The login of an order's owner, if it is known by now. */
interface Owner {
  readonly login: string | null;
}

interface Owned {
  readonly order: FollowedOrder;
  readonly owner: Owner;
}

const MAX_ORDERS = 100;

/** The orders of this run, oldest first. */
export class OrderList {
  readonly #followers: Followers<readonly FollowedOrder[]>;
  #owned: readonly Owned[] = [];
  #orders: readonly FollowedOrder[] = [];

  constructor(core: Core) {
    this.#followers = new Followers(
      core,
      () => this.state(),
      (login) => this.#keep(({ owner }) => owner.login === login),
    );
  }

  readonly state = (): readonly FollowedOrder[] => {
    this.#followers.check();
    return this.#orders;
  };

  readonly follow = (listener: (orders: readonly FollowedOrder[]) => void): (() => void) =>
    this.#followers.add(listener);

  /** Adds an order, or replaces what is known of it. The owner identifies the order. */
  put(owner: Owner, order: FollowedOrder): void {
    const own = { order, owner };
    const owned = this.#owned.map((each) => (each.owner === owner ? own : each));
    if (!owned.includes(own)) {
      // An order under way is not dropped for another one.
      const oldest = owned.findIndex((each) => each.order.outcome !== null);
      if (owned.length >= MAX_ORDERS && oldest >= 0) owned.splice(oldest, 1);
      owned.push(own);
    }
    this.#set(owned);
  }

  #keep(isKept: (owned: Owned) => boolean): void {
    const kept = this.#owned.filter(isKept);
    if (kept.length < this.#owned.length) this.#set(kept);
  }

  #set(owned: readonly Owned[]): void {
    this.#owned = owned;
    this.#orders = owned.map(({ order }) => order);
    this.#followers.notify();
  }
}
