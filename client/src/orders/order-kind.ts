import type { TypedText } from '../operation.ts';
import { type Keyed, PLACE_LIMIT_ORDER, PLACE_ORDER } from './operations.ts';
import type { LimitOrderInput, OrderInput } from './order-input.ts';
import type { OrderAnswer } from './outcome.ts';

/** A kind of orders, with a mutation of its own. */
export interface OrderKind<Input> {
  /** Part of the digest in storage, and so never another one. */
  readonly name: 'order' | 'limit order';
  readonly operation: TypedText<OrderAnswer, Keyed<Input>>;
  /**
   * Whether an input without a `kind`, of an app without types, is refused: filled in from a price that got lost, it would be the
   * market's. The mutation of the other kind takes none: one that is given is refused by the server.
   */
  readonly needsKind: boolean;
}

export const ORDER: OrderKind<OrderInput> = {
  name: 'order',
  operation: PLACE_ORDER,
  needsKind: true,
};

export const LIMIT_ORDER: OrderKind<LimitOrderInput> = {
  name: 'limit order',
  operation: PLACE_LIMIT_ORDER,
  needsKind: false,
};

/** The price says the kind as well, so that a key of an app that did not send it yet is one of the same order. */
export function withoutKind(input: object): string {
  const { kind: _, ...compared } = input as { kind?: unknown };
  return JSON.stringify(compared);
}
