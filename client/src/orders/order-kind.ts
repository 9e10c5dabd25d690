import type { TypedText } from '../operation.ts';
import { unsendable } from '../request/finite-variables.ts';
import { type Keyed, PLACE_LIMIT_ORDER, PLACE_ORDER } from './operations.ts';
import type { LimitOrderInput, OrderInput } from './order-input.ts';
import type { OrderAnswer } from './outcome.ts';

/** A kind of orders, with a mutation of its own. */
export interface OrderKind<Input> {
  /** Part of the digest in storage, and so never another one. */
  readonly name: 'order' | 'limit order';
  readonly operation: TypedText<OrderAnswer, Keyed<Input>>;
  /** Throws where the input does not say what the mutation has to be told. */
  readonly check: (input: Input) => void;
}

export const ORDER: OrderKind<OrderInput> = {
  name: 'order',
  operation: PLACE_ORDER,
  // An app without types: filled in from a price that got lost, the kind would be the market's. The server refuses the two where they disagree.
  check({ kind }: Partial<OrderInput>) {
    if (kind === undefined)
      throw unsendable('input.kind', "is missing: 'MARKET', or 'PENDING' with a price");
  },
};

/** Its mutation takes no kind: one that was meant for the other mutation is refused by the server. */
export const LIMIT_ORDER: OrderKind<LimitOrderInput> = {
  name: 'limit order',
  operation: PLACE_LIMIT_ORDER,
  check() {},
};

/** The price says the kind as well, so that a key of an app that did not send it yet is one of the same order. */
export function withoutKind(input: object): string {
  const { kind: _, ...compared } = input as { kind?: unknown };
  return JSON.stringify(compared);
}
