export type { CatalogState } from './react/catalog-store.ts';
export {
  TradingGraphProvider,
  type TradingGraphProviderProps,
  useClient,
} from './react/provider.ts';
export type { TicketForm, TicketState } from './react/ticket-form.ts';
export { useCatalog } from './react/use-catalog.ts';
export { useAccount, useLive, usePositions } from './react/use-live.ts';
export { useTicket } from './react/use-ticket.ts';
