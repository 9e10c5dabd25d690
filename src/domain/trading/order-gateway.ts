import type { Exchange } from '../../gateway/exchange.ts';
import type { LimitOrder, MarketOrder } from '../../gateway/model.ts';
import type { Viewer } from '../auth/viewer.ts';

/** The two order calls of the gateway, which end by their own deadline and never reject. */
export interface OrderGateway {
  openPosition(viewer: Viewer, order: MarketOrder): Promise<Exchange>;
  placeLimitOrder(viewer: Viewer, order: LimitOrder): Promise<Exchange>;
}
