import type { InstrumentField } from './catalog/instrument.ts';
import { type CatalogFeature, catalog } from './catalog.ts';
import { type CoreClient, type CoreClientOptions, createClientWith } from './core-client.ts';
import type { LiveNames } from './live/chosen-fields.ts';
import { type LiveFeature, type LiveOptions, live } from './live.ts';
import { type OrdersFeature, orders } from './orders.ts';
import { checkStorage } from './storage/check-storage.ts';
import type { ClientStorage } from './storage.ts';

/** The options of `createClient`. */
export interface ClientOptions<
  Field extends InstrumentField = InstrumentField,
  Names extends LiveNames = LiveNames,
> extends CoreClientOptions,
    LiveOptions<Names> {
  /**
   * Whether orders are placed also where the storage refuses to keep their keys, as in some private windows: an order
   * that is under way when the app ends is then not found again. Without it such orders are `unsent`.
   */
  readonly allowVolatileOrders?: boolean | undefined;
  /** Where the keys of orders are kept, in place of `storage`, which the catalog may fill. */
  readonly orderStorage?: ClientStorage | undefined;
  /** The fields of the catalog's instruments to keep, beside id, symbol and name; all where it is left out. */
  readonly catalogFields?: readonly Field[] | undefined;
}

/** A client of Trading Graph. */
export interface Client<
  Field extends InstrumentField = InstrumentField,
  Names extends LiveNames = LiveNames,
> extends CoreClient,
    LiveFeature<Names>,
    OrdersFeature,
    CatalogFeature<Field> {}

/** Makes a client with all features. It opens nothing until it is used. */
export function createClient<
  Field extends InstrumentField = InstrumentField,
  OfPosition extends LiveNames['position'] = LiveNames['position'],
  OfOrder extends LiveNames['order'] = LiveNames['order'],
  OfSession extends LiveNames['session'] = LiveNames['session'],
>(
  options: ClientOptions<Field, { position: OfPosition; order: OfOrder; session: OfSession }>,
): Client<Field, { position: OfPosition; order: OfOrder; session: OfSession }> {
  checkStorage('orderStorage', options.orderStorage);
  return createClientWith(
    options,
    live(options),
    orders({ allowVolatile: options.allowVolatileOrders, storage: options.orderStorage }),
    catalog(options.catalogFields),
  );
}
