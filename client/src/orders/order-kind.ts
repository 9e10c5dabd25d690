import type { TypedText } from '../operation.ts';
import { type Keyed, PLACE_LIMIT_ORDER, PLACE_ORDER } from './operations.ts';
import type { LimitOrderInput, OrderInput } from './order-input.ts';
import type { OrderAnswer } from './outcome.ts';

/** A kind of orders, with a mutation of its own. */
export interface OrderKind<Input> {
  /** Part of the digest in storage, and so never another one. */
  readonly name: 'order' | 'limit order';
  readonly operation: TypedText<OrderAnswer, Keyed<Input>>;
  /** Returns the `kind` that the mutation is sent; undefined where it takes none. */
  readonly kindOf: (input: Input) => OrderInput['kind'];
}

export const ORDER: OrderKind<OrderInput> = {
  name: 'order',
  operation: PLACE_ORDER,
  // Without a kind from the app the price decides it. The server refuses a kind and a price that disagree, so one lost on its way is noticed.
  kindOf: ({ kind, price }) => kind ?? (price === undefined ? 'MARKET' : 'PENDING'),
};

export const LIMIT_ORDER: OrderKind<LimitOrderInput> = {
  name: 'limit order',
  operation: PLACE_LIMIT_ORDER,
  // This mutation takes no kind: one that was meant for the other mutation is refused by the server.
  kindOf: ({ kind }: LimitOrderInput & { readonly kind?: undefined }) => kind,
};

/** The price says the kind as well, so that a key of an app that did not send it yet is one of the same order. */
export function withoutKind(input: object): string {
  const { kind: _, ...compared } = input as { kind?: unknown };
  return JSON.stringify(compared);
}
