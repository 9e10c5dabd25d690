import type { PlaceOptions, Ticket } from './orders/ticket.ts';
import type { SignIn } from './sign-in.ts';

/** The sign-in of the last order of each ticket, which forgets it itself where nothing was sent. */
export const formerSignIns: WeakMap<Ticket, SignIn> = new WeakMap();

/** Names the option by which the order is the one before, and is not placed for anybody else. */
export const AS_BEFORE: unique symbol = Symbol('as before');

export interface OwnPlaceOptions extends PlaceOptions {
  readonly [AS_BEFORE]?: true;
}
