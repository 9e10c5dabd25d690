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
   * Gives the app's token, or null if no user is signed in. It is asked before each request, so it should hold its
   * token; with `force` the last one was refused, and a new one has to be fetched.
   */
  readonly token: TokenSource;
  /** Where the keys of orders are kept; without it nothing outlives the app. */
  readonly storage?: ClientStorage | undefined;
  /** Called once when the user is signed out: there is no token, or a renewed one was refused. */
  readonly onSignedOut?: ((error: TradingGraphError) => void) | undefined;
  /**
   * The longest time between two messages of a quiet line, 15 s (where it is left out) to 60: each of them wakes a phone's
   * radio. A line that is dead is found out ten seconds after it at the latest.
   */
  readonly heartbeatSeconds?: number | undefined;
  /** The time for which the app is hidden before its lines are closed, 30 s where it is left out; `Infinity` keeps them. */
  readonly hiddenSeconds?: number | undefined;
  /** Replacements for functions that the platform lacks or that differ on it, as on React Native. */
  readonly environment?: OwnEnvironment | undefined;
}

/** A client for queries, mutations and subscriptions, which each feature adds its own to. */
export interface CoreClient extends RequestsClient {
  /** Subscribes; returns a function that ends it. A lost line is replaced, with the variables that the function returns then. */
  subscribe<Data, Variables = unknown>(
    operation: Operation<Data, Variables>,
    variables: () => Variables,
    sink: Sink<Data>,
  ): () => void;
}

/** A part of a client that an app may go without, such as `live()` and `orders()`; `Own` is what the client has by it. */
export type Feature<Own extends object> = (core: Core) => Own;

/** All that these features add to a client. */
export type OfFeatures<Features> = Features extends readonly [Feature<infer Own>, ...infer Rest]
  ? Own & OfFeatures<Rest>
  : unknown;

/**
 * Makes a client with these features alone, for bundlers that pack whole modules, as Metro does. It opens nothing until it
 * is used.
 */
export function createClientWith<Features extends readonly Feature<object>[]>(
  options: CoreClientOptions,
  ...features: Features
): CoreClient & OfFeatures<Features> {
  checkStorage(options.storage);
  // The client uses of a package's sockets only what those of the platform have as well.
  const environment = { ...browserEnvironment(), ...options.environment } as Environment;
  checkEnvironment(environment);
  checkOptions(options);
  const core = new ClientCore({ ...options, environment }, PARTS);
  const client: CoreClient = Object.assign(ownMethods(core), { subscribe: core.subscribe });
  for (const add of features) Object.assign(client, add(core));
  return client as CoreClient & OfFeatures<Features>;
}

/** The parts of a core that subscribes. */
export const PARTS: CoreParts = {
  serverClock: (environment) => new ServerClock(environment),
  subscriptions: (own) => new Subscriptions(own),
};

/** Throws where a function such as `indexedDb` is given in place of its result, which the first order would otherwise be the first to notice. */
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

/** Throws for a function that the app replaces by none, and for half of a lifecycle: a timer would be the first to miss it. */
function checkEnvironment({ lifecycle, ...functions }: Environment): void {
  const { fetch, now, uptime, random, randomId, after } = functions;
  const { onReturn, onHide } = Object(lifecycle) as Partial<Lifecycle>;
  const all = { fetch, now, uptime, random, randomId, after, onReturn, onHide };
  const missing = Object.entries(all).find(([, given]) => typeof given !== 'function');
  if (missing) throw new TypeError(`\`${missing[0]}\` is a function that \`environment\` lacks`);
}
