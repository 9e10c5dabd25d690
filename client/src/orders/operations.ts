import type { TypedText } from '../operation.ts';
import type { LimitOrderInput, OrderInput } from './order-input.ts';
import type { OrderAnswer } from './outcome.ts';

type Keyed<Input> = { readonly input: Input & { readonly idempotencyKey: string } };

const OUTCOME =
  '{ __typename ... on OrderOutcome { idempotencyKey message replayed } ... on OrderAccepted { orderId } ' +
  '... on OrderRejected { error } ... on OrderOutcomeUnknown { sentAt } }';

export const PLACE_ORDER: TypedText<
  OrderAnswer,
  Keyed<OrderInput>
> = `mutation PlaceOrder($input: PlaceOrderInput!) { order: placeOrder(input: $input) ${OUTCOME} }`;

export const PLACE_LIMIT_ORDER: TypedText<
  OrderAnswer,
  Keyed<LimitOrderInput>
> = `mutation PlaceLimitOrder($input: PlaceLimitOrderInput!) { order: placeLimitOrder(input: $input) ${OUTCOME} }`;

export const PLACED_ORDER: TypedText<OrderAnswer, { readonly key: string }> =
  `query PlacedOrder($key: String!) { order: placedOrder(idempotencyKey: $key) ${OUTCOME} }`;
