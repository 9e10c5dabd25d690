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
  /** Asks again by its `retry`, as long as it has begun no other order. */
  readonly ticket: Ticket;
}

/** An order, and whose it is as far as that is known by now. */
interface Owned {
  readonly order: FollowedOrder;
  readonly account: () => string | null;
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
      (login) => this.#keep(({ account }) => account() === login),
    );
  }

  readonly state = (): readonly FollowedOrder[] => {
    this.#followers.check();
    return this.#orders;
  };

  readonly follow = (listener: (orders: readonly FollowedOrder[]) => void): (() => void) =>
    this.#followers.add(listener);

  put(order: FollowedOrder, account: () => string | null): void {
    const own = { order, account };
    const isKnown = this.#orders.some(({ key }) => key === order.key);
    const owned = this.#owned.map((each) => (each.order.key === order.key ? own : each));
    const dropped = isKnown || owned.length < MAX_ORDERS ? null : leastOf(owned);
    this.#set([...owned.filter((each) => each !== dropped), ...(isKnown ? [] : [own])]);
  }

  #keep(isKept: (owned: Owned) => boolean): void {
    const kept = this.#owned.filter(isKept);
    if (kept.length < this.#owned.length) this.#set(kept);
  }

  #set(owned: readonly Owned[]): void {
    this.#owned = owned;
    this.#orders = owned.map(({ order }) => order);
    this.#followers.tell();
  }
}

/** The order that is dropped for another one: the oldest of those that have ended, else of those in doubt. */
function leastOf(owned: readonly Owned[]): Owned | undefined {
  const ended = owned.find(({ order: { outcome } }) => outcome && outcome.status !== 'unknown');
  return ended ?? owned.find(({ order }) => order.outcome);
}
