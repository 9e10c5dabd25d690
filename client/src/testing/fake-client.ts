import { type Client, type ClientOptions, createClient } from '../create-client.ts';
import { FakeMarket, type FakeMarketOptions } from './fake-market.ts';
import { FakeNetwork } from './fake-network.ts';

/** The options of `fakeClient()`. */
export interface FakeOptions extends FakeMarketOptions {
  /** Options of the client that the components are for, such as `positionFields`. */
  readonly client?: Partial<ClientOptions>;
}

/** A client, with the market and the network that a test controls. */
export interface Fake {
  readonly client: Client;
  readonly market: FakeMarket;
  /** Opens the app again after `market.kill()`, with its storage; the market is unchanged. */
  open(): Client;
}

/** The real client for tests of components, with a market that the test moves, without a server and without timers. */
export function fakeClient({ client: options = {}, ...own }: FakeOptions = {}): Fake {
  const network = new FakeNetwork();
  const market = new FakeMarket(network, own);
  network.server = market;
  const open = () =>
    createClient({
      url: 'https://fake.example/graphql',
      token: market.token,
      storage: network.storage(),
      ...options,
      environment: { ...network.environment(), ...options.environment },
    });
  return { client: open(), market, open };
}
