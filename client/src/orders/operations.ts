import type { Core, OwnRequestOptions, Result } from '../core.ts';
import type { TypedText } from '../operation.ts';
import { isUnknownDocument } from '../request/failures.ts';
import type { LimitOrderInput, OrderInput } from './order-input.ts';
import type { OrderAnswer } from './outcome.ts';

/** An order as it is sent. */
export type Keyed<Input> = {
  readonly input: Input & {
    readonly idempotencyKey: string;
    /** Until when the server may send it, in ISO 8601. */
    readonly sendBefore?: string | undefined;
    /** When the key was made, in ISO 8601. */
    readonly keyMade?: string | undefined;
  };
};

/** A question about a key. */
export interface AskedKey {
  readonly key: string;
  /** When it was made, in ISO 8601, for a void. */
  readonly since?: string | undefined;
}

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

/** Closes a key that is unused, so that what comes later with it is refused; of a used one it tells the outcome. */
export const VOID_ORDER: TypedText<OrderAnswer, AskedKey> =
  `mutation VoidOrder($key: String!, $since: DateTime) { order: voidOrder(idempotencyKey: $key, since: $since) ${OUTCOME} }`;

export const PLACED_ORDER: TypedText<OrderAnswer, AskedKey> =
  `query PlacedOrder($key: String!) { order: placedOrder(idempotencyKey: $key) ${OUTCOME} }`;

/** Whatever the answer is, it shows that the line works, and its `Date` tells the server's time. */
export const PING = '{__typename}';

/** Sends an operation about an order. A server that does not know one of its fields is asked in the older form for ten minutes. */
export type OrderRequest = <Variables>(
  operation: TypedText<OrderAnswer, Variables>,
  variables: Variables,
  options: OwnRequestOptions<OrderAnswer>,
) => Promise<Result<OrderAnswer>>;

/** An older server may have been replaced by then. */
const OLDER_MS = 600_000;

export function createOrderRequest({ environment, request }: Core): OrderRequest {
  let olderUntilMs = Number.NEGATIVE_INFINITY;
  return async (operation, variables, options) => {
    const older = operation.replace(' reason', '') as typeof operation;
    const isOlder = environment.uptime() < olderUntilMs;
    const result = await request(isOlder ? older : operation, variables, options);
    if (isOlder || !result.errors.some(isUnknownDocument)) return result;
    olderUntilMs = environment.uptime() + OLDER_MS;
    return request(older, variables, options);
  };
}
