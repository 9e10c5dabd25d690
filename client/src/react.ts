'use client';

export type { TicketState } from './orders/ticket.ts';
export type { CatalogState } from './react/catalog-store.ts';
export {
  TradingGraphProvider,
  type TradingGraphProviderProps,
  useClient,
  useRetrying,
} from './react/provider.ts';
export { useCatalog } from './react/use-catalog.ts';
export { useAccount, useAge, useLive, usePosition, usePositions } from './react/use-live.ts';
export { type TicketForm, useOrders, useTicket } from './react/use-ticket.ts';
