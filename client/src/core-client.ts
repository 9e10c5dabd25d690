import { browserEnvironment } from './browser-environment.ts';
import { ClientCore, type CoreParts } from './client-core.ts';
import type { Core, Sink } from './core.ts';
import type { Environment, Lifecycle, OwnEnvironment } from './environment.ts';
import type { TradingGraphError } from './errors.ts';
import type { Operation } from './operation.ts';
import { ownMethods, type RequestsClient } from './own-methods.ts';
import type { TokenSource } from './request/tokens.ts';
import { ServerClock } from './server-clock.ts';
import type { ClientStorage } from './storage.ts';
import { Subscriptions } from './subscribe/subscriptions.ts';

/** The options of every client. */
export interface CoreClientOptions {
  /** The GraphQL endpoint, such as `https://example.com/graphql`; the WebSocket's address follows from it. */
  readonly url: string;
  /**
   * Returns the app's token, or null if no user is signed in. It is called before each request, so it should keep the
   * token. With `force` the last token was refused, and the function must fetch a new one.
   */
  readonly token: TokenSource;
  /** Stores the keys of orders. Without a storage they are lost when the app ends. */
  readonly storage?: ClientStorage | undefined;
  /** Called once when the user is signed out: there is no token, or the renewed token was refused. */
  readonly onSignedOut?: ((error: TradingGraphError) => void) | undefined;
  /**
   * The longest time between two messages of a quiet connection: 15 s (the default) to 60. More suits a phone, whose
   * radio each message wakes. A dead connection is noticed at most ten seconds after a missing message.
   */
  readonly heartbeatSeconds?: number | undefined;
  /** The time for which the app is hidden before its connections are closed, 30 s by default; `Infinity` keeps them. */
  readonly hiddenSeconds?: number | undefined;
  /** Functions in place of those that the platform lacks or implements differently, as React Native does. */
  readonly environment?: OwnEnvironment | undefined;
}

/** A client for queries, mutations and subscriptions. Each feature adds its own methods. */
export interface CoreClient extends RequestsClient {
  /** Subscribes, and again after a lost connection. Each time it calls `variables`. Returns a function that ends it. */
  subscribe<Data, Variables = unknown>(
    operation: Operation<Data, Variables>,
    variables: () => Variables,
    sink: Sink<Data>,
  ): () => void;
}

/** An optional part of a client, such as `live()` and `orders()`. `Own` are the members that it adds to the client. */
export type Feature<Own extends object> = (core: Core) => Own;

/** Everything that these features add to a client. */
export type OfFeatures<Features> = Features extends readonly [Feature<infer Own>, ...infer Rest]
  ? Own & OfFeatures<Rest>
  : unknown;

/**
 * Makes a client with only these features, for bundlers that pack whole modules, as Metro does. It opens no connection
 * until it is used.
 */
export function createClientWith<Features extends readonly Feature<object>[]>(
  options: CoreClientOptions,
  ...features: Features
): CoreClient & OfFeatures<Features> {
  checkStorage(options.storage);
  // The cast is safe: a given `SocketClass`, such as that of `ws`, has all members of sockets that the client uses.
  const environment = { ...browserEnvironment(), ...options.environment } as Environment;
  checkEnvironment(environment);
  checkOptions(options);
  const core = new ClientCore({ ...options, environment }, PARTS);
  const client: CoreClient = Object.assign(ownMethods(core), { subscribe: core.subscribe });
  for (const add of features) Object.assign(client, add(core));
  return client as CoreClient & OfFeatures<Features>;
}

/** The parts of a client that can subscribe. */
export const PARTS: CoreParts = {
  serverClock: (environment) => new ServerClock(environment),
  subscriptions: (own) => new Subscriptions(own),
};

/** Throws if a function such as `indexedDb` is passed in place of its result, which only the first order would show. */
function checkStorage(storage: unknown): void {
  if (storage === undefined) return;
  const { get, set } = Object(storage) as Partial<ClientStorage>;
  if (typeof get === 'function' && typeof set === 'function') return;
  throw new TypeError('`storage` is made by a call, such as indexedDb({ name })');
}

/** Throws for a heartbeat that the server would refuse with each subscription. */
function checkOptions({ heartbeatSeconds = 15, hiddenSeconds = 30 }: CoreClientOptions): void {
  if (!(Number.isInteger(heartbeatSeconds) && heartbeatSeconds >= 15 && heartbeatSeconds <= 60))
    throw new RangeError('`heartbeatSeconds` is an integer from 15 to 60');
  if (!(hiddenSeconds >= 0)) throw new RangeError('`hiddenSeconds` is a number from 0 on');
}

/** Throws at once if the app has replaced a function by null, or if the lifecycle is incomplete. */
function checkEnvironment({ lifecycle, ...functions }: Environment): void {
  const { fetch, now, uptime, random, randomId, after } = functions;
  const { onReturn, onHide } = Object(lifecycle) as Partial<Lifecycle>;
  const all = { fetch, now, uptime, random, randomId, after, onReturn, onHide };
  const missing = Object.entries(all).find(([, given]) => typeof given !== 'function');
  if (missing) throw new TypeError(`\`${missing[0]}\` is a function that \`environment\` lacks`);
}
