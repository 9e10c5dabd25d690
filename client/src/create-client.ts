import { browserEnvironment } from './browser-environment.ts';
import type { CatalogReplica } from './catalog/catalog.ts';
import type { InstrumentField, KeyField } from './catalog/instrument.ts';
import { createCatalog } from './catalog/replica.ts';
import type { Sink } from './core.ts';
import { createCore } from './create-core.ts';
import type { Environment } from './environment.ts';
import type { TradingGraphError } from './errors.ts';
import type { Instrument } from './generated/rows.ts';
import { createAccount, type LiveAccount } from './live/account.ts';
import type { LiveFields, LiveNames } from './live/chosen-fields.ts';
import type { OfflineAccount } from './live/kept-state.ts';
import { createPositions, type Positions } from './live/positions.ts';
import type { Operation } from './operation.ts';
import { createOrders, type Orders } from './orders/create-orders.ts';
import { ownMethods, type RequestsClient } from './own-methods.ts';
import type { TokenSource } from './request/tokens.ts';
import type { ClientStorage } from './storage.ts';

/** The options of `createClient`. */
export interface ClientOptions<
  Field extends InstrumentField = InstrumentField,
  Names extends LiveNames = LiveNames,
> extends LiveFields<Names> {
  /** The GraphQL endpoint, such as `https://example.com/graphql`; the WebSocket's address follows from it. */
  readonly url: string;
  /**
   * Gives the app's token, or null where nobody is signed in. It is asked before each request, so it should hold its
   * token; with `force` the last one was refused, and a new one has to be fetched.
   */
  readonly token: TokenSource;
  /** Where keys of orders and the catalog are kept; without it nothing outlives the app. */
  readonly storage?: ClientStorage;
  /**
   * Whether orders are placed also where the storage refuses to keep their keys, as in some private windows: an order
   * that is under way when the app ends is then not found again. Without it such orders are `unsent`.
   */
  readonly allowVolatileOrders?: boolean;
  /** The fields of the catalog's instruments to keep, beside id, symbol and name; all where it is left out. */
  readonly catalogFields?: readonly Field[];
  /** Keeps the account's last state, so that an app which starts offline shows it as of its `asOf`; without it nothing is kept. */
  readonly offlineAccount?: OfflineAccount;
  /** Called once when nobody is signed in any more: there is no token, or a renewed one was refused. */
  readonly onSignedOut?: (error: TradingGraphError) => void;
  /** Adds `?route=`, four hex digits of a hash of the login, for load balancers that hash by account; false leaves it out. */
  readonly route?: boolean;
  /**
   * The longest time between two messages of a quiet line, 15 s (where it is left out) to 60: each of them wakes a phone's
   * radio. A line that is dead is found out ten seconds after it.
   */
  readonly heartbeatSeconds?: number;
  /** The time for which the app is hidden before its lines are closed, 30 s where it is left out; `Infinity` keeps them. */
  readonly hiddenSeconds?: number;
  /** Replacements for functions that the platform lacks or that differ on it, as on React Native. */
  readonly environment?: Partial<Environment>;
}

/** A client of Trading Graph. */
export interface Client<
  Field extends InstrumentField = InstrumentField,
  Names extends LiveNames = LiveNames,
> extends RequestsClient {
  /** Subscribes; returns a function that ends it. A lost line is replaced, with the variables that the function returns then. */
  subscribe<Data, Variables = unknown>(
    operation: Operation<Data, Variables>,
    variables: () => Variables,
    sink: Sink<Data>,
  ): () => void;
  /** The open positions, followed live. */
  readonly positions: Positions<Names>;
  /** The whole account, followed live: open positions, pending orders and the session's figures. */
  readonly account: LiveAccount<Names>;
  /** Orders that are placed once. */
  readonly orders: Orders;
  /** A copy of the viewer's catalog, kept up to date when it is told to. */
  readonly catalog: CatalogReplica<Pick<Instrument, Field | KeyField>>;
}

/** Makes a client. It opens nothing until it is used. */
export function createClient<
  Field extends InstrumentField = InstrumentField,
  OfPosition extends LiveNames['position'] = LiveNames['position'],
  OfOrder extends LiveNames['order'] = LiveNames['order'],
  OfSession extends LiveNames['session'] = LiveNames['session'],
>(
  options: ClientOptions<Field, { position: OfPosition; order: OfOrder; session: OfSession }>,
): Client<Field, { position: OfPosition; order: OfOrder; session: OfSession }> {
  checkStorage(options.storage);
  const core = createCore({
    ...options,
    expectedLogin: options.offlineAccount?.login,
    storage: options.storage ?? null,
    heartbeatSeconds: heartbeatOf(options),
    environment: { ...browserEnvironment(), ...options.environment },
  });
  return Object.assign(ownMethods(core), {
    subscribe: core.subscribe,
    positions: createPositions(core, options),
    account: createAccount(core, options),
    orders: createOrders(core, { allowVolatile: options.allowVolatileOrders ?? false }),
    catalog: createCatalog(core, options.catalogFields),
  });
}

/** Throws for a heartbeat that the server would refuse with each subscription. */
function heartbeatOf({ heartbeatSeconds = 15 }: Pick<ClientOptions, 'heartbeatSeconds'>): number {
  if (Number.isInteger(heartbeatSeconds) && heartbeatSeconds >= 15 && heartbeatSeconds <= 60)
    return heartbeatSeconds;
  throw new RangeError('heartbeatSeconds is an integer from 15 to 60');
}

/** Throws where a function such as `files` is given in place of its result, which the first order would otherwise be the first to notice. */
function checkStorage(storage: unknown): void {
  if (storage === undefined) return;
  const { get, set } = Object(storage) as Partial<ClientStorage>;
  if (typeof get === 'function' && typeof set === 'function') return;
  throw new TypeError(
    "`storage` is made by a call, such as indexedDb({ name }) or files('./orders')",
  );
}
