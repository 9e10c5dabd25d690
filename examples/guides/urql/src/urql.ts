import { cacheExchange } from '@urql/exchange-graphcache';
import type { Result } from 'trading-graph-client';
import { possibleTypes, typesWithoutId } from 'trading-graph-client/schema';
import { Client, subscriptionExchange } from 'urql';
import { foldPositions } from './cache';
import { tradingGraph } from './trading-graph';

// Every operation goes through the client, which renews tokens, replaces lines and never repeats a mutation.
const network = subscriptionExchange({
  enableAllOperations: true,
  forwardSubscription: ({ query = '', variables }, { kind }) => ({
    subscribe({ next, error, complete }) {
      if (kind === 'subscription') {
        let last: Live['positionChanges'];
        const unsubscribe = tradingGraph.subscribe<Live, unknown>(
          query,
          () => ({ ...variables, after: last?.cursor }),
          {
            next(result) {
              last = result.data?.positionChanges ?? last;
              next(answer(result));
            },
            // An event of this app's own: nothing has changed, and nothing is live until the next.
            disconnected() {
              if (last) next({ data: { positionChanges: { ...last, ...OFFLINE } } });
            },
            ended: (reason) => (reason ? error(reason) : complete()),
          },
        );
        return { unsubscribe };
      }
      const request = kind === 'mutation' ? tradingGraph.mutate : tradingGraph.query;
      request<Record<string, unknown>, unknown>(query, variables, {
        // A fragment with @defer follows: the screen is drawn before its slowest part is there.
        onPart: (soFar) => next({ ...answer(soFar), hasNext: true }),
      }).then((result) => {
        next(answer(result));
        complete();
      });
      return { unsubscribe() {} };
    },
  }),
});

interface Live {
  positionChanges?: { cursor: string };
}
const OFFLINE = { status: 'OFFLINE', snapshot: false, upserted: [], ticks: [], closed: [] };

// urql takes an empty list for a failure.
function answer<Data>({ data, errors }: Result<Data>) {
  return errors.length > 0 ? { data, errors } : { data };
}

export const client = new Client({
  url: import.meta.env.VITE_GRAPHQL_URL,
  exchanges: [
    cacheExchange({
      possibleTypes,
      keys: Object.fromEntries(typesWithoutId.map((type) => [type, () => null])),
      resolvers: {
        Query: {
          position: (_, { id }) => ({ __typename: 'Position', id }),
          order: (_, { id }) => ({ __typename: 'Order', id }),
          instrument: (_, { id }) => ({ __typename: 'Instrument', id }),
        },
      },
      updates: { Subscription: { positionChanges: foldPositions } },
    }),
    network,
  ],
});
