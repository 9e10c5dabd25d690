export type { RequestOptions, Result, Sink } from './core.ts';
export { type Client, type ClientOptions, createClient } from './create-client.ts';
export type { Environment, Lifecycle, OwnEnvironment } from './environment.ts';
export { type ErrorCode, type ErrorDetails, TradingGraphError } from './errors.ts';
export { ERROR_CODES, type ServerErrorCode } from './generated/error-codes.ts';
export { possibleTypes } from './generated/possible-types.ts';
export type { Instrument, PendingOrder, Position, Side } from './generated/rows.ts';
export { typesWithoutId } from './generated/types-without-id.ts';
export type { LiveAccount } from './live/account.ts';
export { accountDocuments } from './live/account-operation.ts';
export type { LiveFields, LiveNames } from './live/chosen-fields.ts';
export type { AccountFigures, PositionTotals } from './live/live-source.ts';
export type { Positions, PositionsListener, PositionsOptions } from './live/positions.ts';
export { positionsDocuments } from './live/positions-operation.ts';
export type { AccountState, PositionsState } from './live/states.ts';
export type { Operation, TrustedDocument, TypedDocument, TypedText } from './operation.ts';
export type { Orders } from './orders/create-orders.ts';
export type {
  LimitOrderInput,
  MarketOrder,
  OrderInput,
  OrderSize,
  PendingOrderInput,
  Protection,
} from './orders/order-input.ts';
export type { FollowedOrder } from './orders/order-list.ts';
export type {
  OrderAccepted,
  OrderOutcome,
  OrderRejected,
  OrderUnknown,
  OrderUnsent,
} from './orders/outcome.ts';
export type { ResumedOrder, ResumeOptions } from './orders/resumed-order.ts';
export type {
  OrderProgress,
  PlaceOptions,
  Ticket,
  TicketOptions,
  TicketState,
} from './orders/ticket.ts';
export type { TokenSource } from './request/tokens.ts';
export type { ClientStorage } from './storage.ts';
