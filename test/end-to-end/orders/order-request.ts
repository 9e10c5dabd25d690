import { keyOf } from '../../support/order-keys.ts';

/** An order as a client requests it, for either mutation. */
export interface OrderRequest {
  readonly mutation: 'placeOrder' | 'placeLimitOrder';
  readonly input: Readonly<Record<string, unknown>> & {
    readonly symbol: string;
    readonly idempotencyKey: string;
  };
}

export type OutcomeType = 'OrderAccepted' | 'OrderRejected' | 'OrderOutcomeUnknown';

export interface Outcome {
  readonly type: OutcomeType;
  readonly orderId: string | null;
  readonly replayed: boolean;
  /** For a rejected order: the name of the reason, and whether the order was sent to the gateway. */
  readonly error?: string | null;
  readonly sent?: boolean;
}

interface ErrorDetails {
  readonly argument: string | null;
  readonly message: string;
  readonly isRetryable: boolean;
  /** True if an earlier request with the key may have been sent. */
  readonly earlierUnknown: boolean;
}

/** The reply that a client receives. `nothing`: there is no order with the key. `cut`: the connection was closed first. */
export type Reply =
  | ({ readonly kind: 'outcome' } & Outcome)
  | { readonly kind: 'nothing' }
  | ({ readonly kind: 'error'; readonly code: string } & ErrorDetails)
  | { readonly kind: 'cut' };

export interface GraphQLMessage {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface GraphQLBody {
  readonly data?: Readonly<Record<string, unknown>> | null | undefined;
  readonly errors?: readonly BodyError[] | undefined;
}

interface BodyError {
  readonly message: string;
  readonly extensions: Readonly<Record<string, unknown>>;
}

const OUTCOME =
  '{ __typename ... on OrderOutcome { replayed } ... on OrderAccepted { orderId } ... on OrderRejected { error sent } }';
const INPUT_TYPES = { placeOrder: 'PlaceOrderInput!', placeLimitOrder: 'PlaceLimitOrderInput!' };

export function placeMutation({ mutation, input }: OrderRequest, fields = OUTCOME): GraphQLMessage {
  return {
    query: `mutation ($input: ${INPUT_TYPES[mutation]}) { answer: ${mutation}(input: $input) ${fields} }`,
    variables: { input },
  };
}

/** Here and below, tests name keys. */
export function placedOrderQuery(name: string): GraphQLMessage {
  return {
    query: `query ($key: String!) { answer: placedOrder(idempotencyKey: $key) ${OUTCOME} }`,
    variables: { key: keyOf(name) },
  };
}

export function voidMutation(name: string, key = keyOf(name)): GraphQLMessage {
  return {
    query: `mutation ($key: String!) { answer: voidOrder(idempotencyKey: $key) ${OUTCOME} }`,
    variables: { key },
  };
}

export function replyOf({ data, errors = [] }: GraphQLBody): Reply {
  const [failure] = errors;
  if (failure) {
    const { code, argument, retryable, earlierUnknown } = failure.extensions;
    return {
      kind: 'error',
      code: String(code),
      argument: argument ? String(argument) : null,
      message: failure.message,
      isRetryable: retryable === true,
      earlierUnknown: earlierUnknown === true,
    };
  }
  const answer = data?.answer;
  if (answer === null || answer === undefined) return { kind: 'nothing' };
  const { __typename, orderId, replayed, error, sent } = answer as Record<string, unknown>;
  return {
    kind: 'outcome',
    type: __typename as OutcomeType,
    orderId: typeof orderId === 'string' ? orderId : null,
    replayed: replayed === true,
    ...(typeof sent === 'boolean' && { error: error as string | null, sent }),
  };
}

/** A market order for one share; its comment is the key's name, which identifies it in the gateway's ledger. */
export function marketOrder(name: string, symbol = 'AAPL', key = keyOf(name)): OrderRequest {
  const input = {
    symbol,
    side: 'BUY',
    kind: 'MARKET',
    size: { units: 1 },
    comment: name,
    idempotencyKey: key,
  };
  return { mutation: 'placeOrder', input };
}

/** So long before now that the time is past even if the date of this machine is corrected during a test. */
export const TOO_LATE_MS = -60_000;

/** The order with a `sendBefore` in this many milliseconds. A negative number means the past. */
export function withSendBefore({ mutation, input }: OrderRequest, inMs: number): OrderRequest {
  const sendBefore = new Date(Date.now() + inMs).toISOString();
  return { mutation, input: { ...input, sendBefore } };
}

/** A limit order far below the market price, which stays pending. */
export function limitOrder(name: string, symbol = 'AAPL'): OrderRequest {
  const idempotencyKey = keyOf(name);
  const input = { symbol, side: 'BUY', amount: 50, price: 10, comment: name, idempotencyKey };
  return { mutation: 'placeLimitOrder', input };
}
