import type { CatalogReplica } from './catalog/catalog.ts';
import type { InstrumentField, KeyField } from './catalog/instrument.ts';
import { catalog } from './catalog.ts';
import { type CoreClient, type CoreClientOptions, createClientWith } from './core-client.ts';
import type { Instrument } from './generated/rows.ts';
import type { LiveAccount } from './live/account.ts';
import type { LiveNames } from './live/chosen-fields.ts';
import type { Positions } from './live/positions.ts';
import { type LiveOptions, live } from './live.ts';
import type { Orders } from './orders/create-orders.ts';
import { orders } from './orders.ts';
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
  readonly allowVolatileOrders?: boolean;
  /** Where the keys of orders are kept, in place of `storage`, which the catalog may fill. */
  readonly orderStorage?: ClientStorage;
  /** The fields of the catalog's instruments to keep, beside id, symbol and name; all where it is left out. */
  readonly catalogFields?: readonly Field[];
}

/** A client of Trading Graph. */
export interface Client<
  Field extends InstrumentField = InstrumentField,
  Names extends LiveNames = LiveNames,
> extends CoreClient {
  /** The open positions, followed live. */
  readonly positions: Positions<Names>;
  /** The whole account, followed live: open positions, pending orders and the session's figures. */
  readonly account: LiveAccount<Names>;
  /** Orders that are placed once. */
  readonly orders: Orders;
  /** A copy of the viewer's catalog, kept up to date when it is told to. */
  readonly catalog: CatalogReplica<Pick<Instrument, Field | KeyField>>;
}

/** Makes a client with all features. It opens nothing until it is used. */
export function createClient<
  Field extends InstrumentField = InstrumentField,
  OfPosition extends LiveNames['position'] = LiveNames['position'],
  OfOrder extends LiveNames['order'] = LiveNames['order'],
  OfSession extends LiveNames['session'] = LiveNames['session'],
>(
  options: ClientOptions<Field, { position: OfPosition; order: OfOrder; session: OfSession }>,
): Client<Field, { position: OfPosition; order: OfOrder; session: OfSession }> {
  return createClientWith(
    options,
    live(options),
    orders({ allowVolatile: options.allowVolatileOrders, storage: options.orderStorage }),
    catalog(options.catalogFields),
  );
}
