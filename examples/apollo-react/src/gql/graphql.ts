/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
/** Whether a live list follows the gateway. */
export type FeedStatus =
  /** The gateway does not answer at the moment, or not as its interface says; the list stands still, as of `asOf`. */
  | 'DELAYED'
  /** The gateway confirmed the list at the last poll. */
  | 'LIVE';

/** An e-mail address and its password. */
export type LoginInput = {
  /** The e-mail address. */
  email: string;
  /** The password. */
  password: string;
};

/** How much: in units of the instrument, or in money. */
export type OrderSize =
  {   /** Money, in the account’s currency. */
  amount: number; units?: never; }
  |  { amount?: never;   /** Units of the instrument. */
  units: number; };

/** An order at the market, or one that waits for its price. */
export type PlaceOrderInput = {
  /** A note to keep with it. */
  comment?: string | null | undefined;
  /** Names this order, 1 to 255 characters, new for each order and the same for each repeat of it: the order is sent at most once. */
  idempotencyKey: string;
  /** When the key was made, by the date of this server: kept with the key, and sent with each attempt or with none. It lets an order be taken where the order records have a gap that ended more than 60 seconds before. More than 60 seconds ahead is refused. Ignored when a retry is matched to its first attempt. */
  keyMade?: string | null | undefined;
  /** Every app should send it: a `price` that gets lost on its way leaves a market order, which trades at once. A price that is missing or not meant is refused; left out, `price` alone decides. */
  kind?: PlaceOrderKind | null | undefined;
  /** The price to wait for, above 0; left out, the order is executed immediately. Null is refused, but for `kind: MARKET`. */
  price?: number | null | undefined;
  /** The order’s deadline, by the date of this server, at most 24 hours ahead: an order that would be sent later is rejected unsent, with the error `EXPIRED`. If it is left out, there is no deadline. Ignored when a retry is matched to its first attempt: a retry gets the first outcome. */
  sendBefore?: string | null | undefined;
  /** Buy or sell. */
  side: Side;
  /** How much. */
  size: OrderSize;
  /** Where to stop a loss; left out for none, null is refused. */
  stopLoss?: Protection | null | undefined;
  /** The instrument to trade. */
  symbol: string | number;
  /** Where to take a profit; left out for none, null is refused. */
  takeProfit?: Protection | null | undefined;
};

/** Whether an order is executed at once or waits for its price. */
export type PlaceOrderKind =
  /** Executed at once, at the market; a `price` is refused. */
  | 'MARKET'
  /** Waits for its `price`, which must be given. */
  | 'PENDING';

/** Where a position closes by itself: at a price, or at an amount won or lost. */
export type Protection =
  {   /** The amount; only with a size that is an amount. */
  amount: number; price?: never; }
  |  { amount?: never;   /** The price. */
  price: number; };

/** The direction of a trade. */
export type Side =
  /** Long: gains when the price rises. */
  | 'BUY'
  /** Short: gains when the price falls. */
  | 'SELL';

export type PlaceOrderMutationVariables = Exact<{
  input: PlaceOrderInput;
}>;


export type PlaceOrderMutation = { placeOrder:
    | { __typename: 'OrderAccepted', idempotencyKey: string, message: string | null, orderId: string | null }
    | { __typename: 'OrderOutcomeUnknown', idempotencyKey: string, message: string | null, sentAt: string }
    | { __typename: 'OrderRejected', idempotencyKey: string, message: string | null, error: string | null }
   | null };

export type SearchQueryVariables = Exact<{
  text: string;
}>;


export type SearchQuery = { instruments: { nodes: Array<{ id: string, symbol: string, name: string }> } | null };

export type SignInMutationVariables = Exact<{
  input: LoginInput;
}>;


export type SignInMutation = { login:
    | { __typename: 'LoginRejected', message: string | null }
    | { __typename: 'LoginSuccess', accessToken: string }
   | null };

export type PositionsQueryVariables = Exact<{ [key: string]: never; }>;


export type PositionsQuery = { positions: Array<{ id: string, symbol: string, name: string | null, side: Side | null, units: number | null, priceCurrent: number | null, digits: number | null, profit: number | null }> | null };

export type PositionChangesSubscriptionVariables = Exact<{
  after?: string | null | undefined;
}>;


export type PositionChangesSubscription = { positionChanges: { cursor: string, snapshot: boolean, closed: Array<string>, status: FeedStatus, asOf: string, upserted: Array<{ id: string, symbol: string, name: string | null, side: Side | null, units: number | null, priceCurrent: number | null, digits: number | null, profit: number | null }>, ticks: Array<{ id: string, priceCurrent: number | null, profit: number | null }>, totals: { count: number, invested: number | null, profit: number | null } } };


export const PlaceOrderDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"PlaceOrder"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"PlaceOrderInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"placeOrder"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"OrderOutcome"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"idempotencyKey"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"OrderAccepted"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"orderId"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"OrderRejected"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"error"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"OrderOutcomeUnknown"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"sentAt"}}]}}]}}]}}]} as unknown as DocumentNode<PlaceOrderMutation, PlaceOrderMutationVariables>;
export const SearchDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Search"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"text"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"instruments"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"6"}},{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"ObjectValue","fields":[{"kind":"ObjectField","name":{"kind":"Name","value":"search"},"value":{"kind":"Variable","name":{"kind":"Name","value":"text"}}}]}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"symbol"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}}]}}]} as unknown as DocumentNode<SearchQuery, SearchQueryVariables>;
export const SignInDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"SignIn"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"LoginInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"login"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"LoginSuccess"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"accessToken"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"LoginRejected"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<SignInMutation, SignInMutationVariables>;
export const PositionsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Positions"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"positions"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"symbol"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"side"}},{"kind":"Field","name":{"kind":"Name","value":"units"}},{"kind":"Field","name":{"kind":"Name","value":"priceCurrent"}},{"kind":"Field","name":{"kind":"Name","value":"digits"}},{"kind":"Field","name":{"kind":"Name","value":"profit"}}]}}]}}]} as unknown as DocumentNode<PositionsQuery, PositionsQueryVariables>;
export const PositionChangesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"PositionChanges"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"positionChanges"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"intervalMs"},"value":{"kind":"IntValue","value":"500"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"snapshot"}},{"kind":"Field","name":{"kind":"Name","value":"closed"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"asOf"}},{"kind":"Field","name":{"kind":"Name","value":"upserted"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"symbol"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"side"}},{"kind":"Field","name":{"kind":"Name","value":"units"}},{"kind":"Field","name":{"kind":"Name","value":"priceCurrent"}},{"kind":"Field","name":{"kind":"Name","value":"digits"}},{"kind":"Field","name":{"kind":"Name","value":"profit"}}]}},{"kind":"Field","name":{"kind":"Name","value":"ticks"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"priceCurrent"}},{"kind":"Field","name":{"kind":"Name","value":"profit"}}]}},{"kind":"Field","name":{"kind":"Name","value":"totals"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"count"}},{"kind":"Field","name":{"kind":"Name","value":"invested"}},{"kind":"Field","name":{"kind":"Name","value":"profit"}}]}}]}}]}}]} as unknown as DocumentNode<PositionChangesSubscription, PositionChangesSubscriptionVariables>;