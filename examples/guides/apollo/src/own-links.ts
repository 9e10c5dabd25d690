import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client';
import { Defer20220824Handler } from '@apollo/client/incremental';
import { SetContextLink } from '@apollo/client/link/context';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { type Client, createClient } from 'graphql-ws';
import { throwError } from 'rxjs';
import { possibleTypes, typePolicies } from 'trading-graph-client/apollo';
import { freshToken, signedOut } from './session';

const uri = import.meta.env.VITE_GRAPHQL_URL;
const authorization = async (force: boolean) => `Bearer ${await freshToken({ force })}`;
let refusals = 0;

// An event comes every 15 s at least. Ten seconds later the line is dead, as after a change of the phone's address, though no platform may say so.
const DEAD_AFTER_MS = 25_000;
let watchdog: ReturnType<typeof setTimeout> | undefined;
const heard = () => {
  clearTimeout(watchdog);
  watchdog = setTimeout(() => socket.terminate(), DEAD_AFTER_MS);
};
// The network is back: a new line is opened, and the old one left to die. `globalThis` is the window; Node has no such events.
globalThis.addEventListener?.('online', () => socket.terminate());

const socket = createClient({
  url: uri.replace('http', 'ws'),
  connectionParams: async () => ({ authorization: await authorization(refusals > 0) }),
  retryAttempts: Number.POSITIVE_INFINITY,
  // 4403 closes a socket whose token is refused. The second time in a row there is no better one.
  shouldRetry: () => refusals < 2,
  on: {
    connecting: heard,
    message: ({ type }) => {
      heard();
      if (type === 'next') refusals = 0;
    },
    closed: (event) => {
      clearTimeout(watchdog);
      if ((event as CloseEvent).code === 4403) refusals += 1;
      if (refusals === 2) signedOut();
    },
  },
});

// The message is written anew on each line, and reads the cursor then.
const resuming: Client = {
  ...socket,
  subscribe(payload, sink) {
    let cursor: string | undefined;
    const variables = {
      ...payload.variables,
      get after() {
        return cursor ?? payload.variables?.after;
      },
    };
    return socket.subscribe<{ positionChanges?: { cursor: string } }>(
      { ...payload, variables },
      {
        ...sink,
        next(result) {
          cursor = result.data?.positionChanges?.cursor ?? cursor;
          sink.next(result as never);
        },
      },
    );
  },
};

export const apollo = new ApolloClient({
  link: ApolloLink.split(
    ({ operationType }) => operationType === 'subscription',
    new GraphQLWsLink(resuming),
    ApolloLink.from([
      // What is tapped offline is not placed, and does not go out when the network returns.
      new ApolloLink((operation, forward) =>
        navigator.onLine === false
          ? throwError(() => new Error('There is no network.'))
          : forward(operation),
      ),
      new SetContextLink(async () => ({ headers: { authorization: await authorization(false) } })),
      new HttpLink({ uri }),
    ]),
  ),
  cache: new InMemoryCache({ possibleTypes, typePolicies }),
  incrementalHandler: new Defer20220824Handler(),
});
