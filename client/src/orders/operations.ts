import type { TypedText } from '../operation.ts';
import type { LimitOrderInput, OrderInput } from './order-input.ts';
import type { OrderAnswer } from './outcome.ts';

/** An order as it is sent. */
export type Keyed<Input> = {
  readonly input: Input & {
    readonly idempotencyKey: string;
    /** The time until which the server may send the order, in ISO 8601. */
    readonly sendBefore?: string | undefined;
  };
};

/** A question about a key. */
export type AskedKey = { readonly key: string };

const OUTCOME =
  '{ __typename ... on OrderOutcome { idempotencyKey message replayed } ... on OrderAccepted { orderId } ' +
  '... on OrderRejected { error reason sent } ... on OrderOutcomeUnknown { sentAt } }';

export const PLACE_ORDER: TypedText<
  OrderAnswer,
  Keyed<OrderInput>
> = `mutation PlaceOrder($input: PlaceOrderInput!) { order: placeOrder(input: $input) ${OUTCOME} }`;

export const PLACE_LIMIT_ORDER: TypedText<
  OrderAnswer,
  Keyed<LimitOrderInput>
> = `mutation PlaceLimitOrder($input: PlaceLimitOrderInput!) { order: placeLimitOrder(input: $input) ${OUTCOME} }`;

/** Closes an unused key, so that a later order with it is refused. For a used key it answers the outcome. */
export const VOID_ORDER: TypedText<OrderAnswer, AskedKey> =
  `mutation VoidOrder($key: String!) { order: voidOrder(idempotencyKey: $key) ${OUTCOME} }`;

export const PLACED_ORDER: TypedText<OrderAnswer, AskedKey> =
  `query PlacedOrder($key: String!) { order: placedOrder(idempotencyKey: $key) ${OUTCOME} }`;
