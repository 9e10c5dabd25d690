import type { Core } from '../core.ts';
import type { OrderList } from './order-list.ts';
import type { StoredKeys } from './stored-keys.ts';

/** The state that the tickets of one client share. */
export interface TicketContext {
  readonly core: Core;
  readonly keys: StoredKeys | null;
  readonly allowVolatile: boolean;
  /** Aborted when the client is disposed. */
  readonly disposal: AbortSignal;
  /** The keys of orders under way, and of orders whose outcome this run got within the last second. */
  readonly underWay: Set<string>;
  readonly list: OrderList;
}
