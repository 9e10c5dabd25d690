export type { CatalogState } from './react/catalog-store.ts';
export {
  TradingGraphProvider,
  type TradingGraphProviderProps,
  useClient,
} from './react/provider.ts';
export type { TicketForm, TicketState } from './react/ticket-form.ts';
export { useAccount } from './react/use-account.ts';
export { useCatalog } from './react/use-catalog.ts';
export { usePositions } from './react/use-positions.ts';
export { useTicket } from './react/use-ticket.ts';
