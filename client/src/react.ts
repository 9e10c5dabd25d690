'use client';

export type { TicketState } from './orders/ticket.ts';
export {
  TradingGraphProvider,
  type TradingGraphProviderProps,
  useClient,
} from './react/provider.ts';
export { useAccount, useAge, useLive, usePosition, usePositions } from './react/use-live.ts';
export { type TicketForm, useOrders, useTicket } from './react/use-ticket.ts';
