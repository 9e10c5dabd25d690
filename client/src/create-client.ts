import { type CoreClient, type CoreClientOptions, createClientWith } from './core-client.ts';
import type { LiveFields, LiveNames } from './live/chosen-fields.ts';
import { type LiveFeature, live } from './live.ts';
import { type OrdersFeature, orders } from './orders.ts';

/** The options of `createClient`. */
export interface ClientOptions<Names extends LiveNames = LiveNames>
  extends CoreClientOptions,
    LiveFields<Names> {
  /**
   * Whether orders are placed even if the storage refuses their keys, as in some private windows. Such an order cannot be
   * found again if the app ends while the order is under way. By default an order whose key is not stored ends as `unsent`.
   */
  readonly allowVolatileOrders?: boolean | undefined;
}

/** A client of Trading Graph. */
export interface Client<Names extends LiveNames = LiveNames>
  extends CoreClient,
    LiveFeature<Names>,
    OrdersFeature {}

/** Makes a client with all features. It opens no connection until it is used. */
export function createClient<
  OfPosition extends LiveNames['position'] = LiveNames['position'],
  OfOrder extends LiveNames['order'] = LiveNames['order'],
  OfSession extends LiveNames['session'] = LiveNames['session'],
>(
  options: ClientOptions<{ position: OfPosition; order: OfOrder; session: OfSession }>,
): Client<{ position: OfPosition; order: OfOrder; session: OfSession }> {
  return createClientWith(
    options,
    live(options),
    orders({ allowVolatile: options.allowVolatileOrders }),
  );
}
