import { useQuery, useSubscription } from '@apollo/client/react';
import { useState } from 'react';
import { writePositionChanges } from 'trading-graph-client/apollo';
import type { PositionsQuery } from './gql/graphql.ts';
import { graphql } from './gql/index.ts';

const POSITIONS = graphql(`
  query Positions {
    positions { id symbol name side units priceCurrent digits profit }
  }
`);

const CHANGES = graphql(`
  subscription PositionChanges($after: String) {
    positionChanges(after: $after, intervalMs: 500) {
      cursor snapshot closed status asOf
      upserted { id symbol name side units priceCurrent digits profit }
      ticks { id priceCurrent profit }
      totals { count invested profit }
    }
  }
`);

export type PositionRow = NonNullable<PositionsQuery['positions']>[number];

/** The events keep the cache's list up to date, and what is shown comes from there. */
export function useLivePositions() {
  const [line, setLine] = useState<'first' | 'live' | 'lost'>('first');
  const { data } = useSubscription(CHANGES, {
    // `useSubscription` gives `onData` no event that has an error, though it holds all but the field that failed.
    errorPolicy: 'ignore',
    context: { disconnected: () => setLine('lost') },
    onData({ client, data: { data: event } }) {
      setLine('live');
      if (event) writePositionChanges(client.cache, event.positionChanges);
    },
    onComplete: () => setLine('lost'),
  });
  const list = useQuery(POSITIONS, { fetchPolicy: 'cache-only' });
  const last = data?.positionChanges;
  return {
    positions: list.data?.positions ?? null,
    totals: last?.totals ?? null,
    asOf: last ? new Date(last.asOf) : null,
    status: line === 'lost' ? ('OFFLINE' as const) : (last?.status ?? null),
  };
}

export type LivePositions = ReturnType<typeof useLivePositions>;
