import { createContext, createElement, type ReactElement, type ReactNode, useContext } from 'react';
import type { Client } from '../create-client.ts';
import type { LiveNames } from '../live/chosen-fields.ts';
import type { AnyClient } from './any-client.ts';

/** The properties of the provider. */
export interface TradingGraphProviderProps {
  /** The client, which the app makes once, outside of React. Another client replaces all that is shown. */
  readonly client: AnyClient;
  readonly children?: ReactNode;
}

const Context = createContext<AnyClient | null>(null);

/** Gives the client to the hooks below it. It neither opens nor disposes it. */
export function TradingGraphProvider({
  client,
  children,
}: TradingGraphProviderProps): ReactElement {
  if (client == null) throw new TypeError('TradingGraphProvider takes a `client`.');
  return createElement(Context.Provider, { value: client }, children);
}

/** The provider's client, for queries, mutations and subscriptions. */
export function useClient<Names extends LiveNames = LiveNames>(): Client<Names> {
  // Only the app knows with which fields it made its client.
  return useProvided() as unknown as Client<Names>;
}

export function useProvided(): AnyClient {
  const provided = useContext(Context);
  if (provided === null) throw new Error('There is no TradingGraphProvider above this component.');
  return provided;
}
