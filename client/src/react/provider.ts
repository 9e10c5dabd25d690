import {
  createContext,
  createElement,
  type ReactElement,
  type ReactNode,
  useContext,
  useState,
  useSyncExternalStore,
} from 'react';
import type { InstrumentField } from '../catalog/instrument.ts';
import type { Client } from '../create-client.ts';
import type { TradingGraphError } from '../errors.ts';
import type { LiveNames } from '../live/chosen-fields.ts';
import type { AnyClient } from './any-client.ts';
import { CatalogStore } from './catalog-store.ts';

/** The properties of the provider. */
export interface TradingGraphProviderProps {
  /** Made outside of React, once for the app; another one replaces it and all that is shown. */
  readonly client: AnyClient;
  readonly children?: ReactNode;
}

interface Provided {
  readonly client: AnyClient;
  readonly catalog: CatalogStore;
}

const Context = createContext<Provided | null>(null);

/** Gives the client to the hooks below it. It neither opens nor disposes anything. */
export function TradingGraphProvider({
  client,
  children,
}: TradingGraphProviderProps): ReactElement {
  const [provided, provide] = useState(() => providedOf(client));
  // React renders again at once, before the children see the former client.
  if (provided.client !== client) provide(providedOf(client));
  return createElement(Context.Provider, { value: provided }, children);
}

/** The provider's client, for queries, mutations and subscriptions. */
export function useClient<
  Field extends InstrumentField = InstrumentField,
  Names extends LiveNames = LiveNames,
>(): Client<Field, Names> {
  // Only the app knows with which fields it made its client.
  return useProvided().client as unknown as Client<Field, Names>;
}

/** Why the query failed last that is being tried again; null while none is. */
export function useRetrying(): TradingGraphError | null {
  const { retrying } = useProvided().client;
  return useSyncExternalStore(retrying, retrying.state, () => null);
}

export function useProvided(): Provided {
  const provided = useContext(Context);
  if (provided === null) throw new Error('There is no TradingGraphProvider above this component.');
  return provided;
}

function providedOf(client: AnyClient): Provided {
  if (client == null) throw new TypeError('TradingGraphProvider takes a `client`.');
  return { client, catalog: new CatalogStore(client) };
}
