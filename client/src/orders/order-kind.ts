import type { TypedText } from '../operation.ts';
import { PLACE_LIMIT_ORDER, PLACE_ORDER } from './operations.ts';
import type { LimitOrderInput, OrderInput } from './order-input.ts';
import type { OrderAnswer } from './outcome.ts';

/** A kind of orders, with a mutation of its own. */
export interface OrderKind<Input> {
  /** Part of the digest in storage, and so never another one. */
  readonly name: 'order' | 'limit order';
  readonly operation: TypedText<
    OrderAnswer,
    { readonly input: Input & { readonly idempotencyKey: string } }
  >;
  /** What the mutation is told of it, as far as it takes that. */
  readonly kindOf: (input: Input) => OrderInput['kind'];
}

export const ORDER: OrderKind<OrderInput> = {
  name: 'order',
  operation: PLACE_ORDER,
  // What the price says where the app does not: the server compares the two, should one be lost on its way.
  kindOf: ({ kind, price }) => kind ?? (price === undefined ? 'MARKET' : 'PENDING'),
};

export const LIMIT_ORDER: OrderKind<LimitOrderInput> = {
  name: 'limit order',
  operation: PLACE_LIMIT_ORDER,
  // It takes none: a kind that was meant for the other mutation is refused by the server.
  kindOf: ({ kind }: LimitOrderInput & { readonly kind?: undefined }) => kind,
};

/** The price says the kind as well, so that a key of an app that did not send it yet is one of the same order. */
export function withoutKind(input: object): string {
  const { kind: _, ...compared } = input as { kind?: unknown };
  return JSON.stringify(compared);
}
