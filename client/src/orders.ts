import type { Feature } from './core-client.ts';
import { createOrders, type Orders, type OrdersOptions } from './orders/create-orders.ts';

/** The part of a client that `orders()` adds. */
export interface OrdersFeature {
  /** Orders that are placed once. */
  readonly orders: Orders;
}

/** The feature that places orders once, and finds their outcomes again. */
export function orders(options: OrdersOptions = {}): Feature<OrdersFeature> {
  return (core) => ({ orders: createOrders(core, options) });
}
