import { type ApolloCache, gql, type TypedDocumentNode } from '@apollo/client';

/** The fields of each list that an event must have selected. */
export interface WrittenRows {
  readonly upserted: readonly { readonly id: string }[];
  readonly closed: readonly string[];
}

/** The fields that an event of `positionChanges` must have selected. */
export interface WrittenChanges extends WrittenRows {
  readonly snapshot: boolean;
}

/** The fields that an event of `accountChanges` must have selected; orders and session may be left out. */
export interface WrittenAccountChanges {
  readonly snapshot: boolean;
  readonly positions: WrittenRows;
  readonly orders?: WrittenRows | null;
  readonly session?: object | null;
}

/** Caches whose last snapshot came before the gateway said any orders: the first that come are the whole list. */
const withoutOrders = new WeakSet<ApolloCache>();

interface Row {
  readonly __typename: 'Position' | 'Order';
  readonly id: string;
}

interface List {
  readonly __typename: Row['__typename'];
  readonly query: TypedDocumentNode<{ rows: readonly Row[] | null }>;
}

/**
 * Applies an event to `Query.positions` of the cache, and evicts the positions that are closed. Apollo itself has written the
 * rows of the event, by their ids.
 */
export function writePositionChanges(cache: ApolloCache, changes: WrittenChanges): void {
  cache.batch({ update: () => writeRows(cache, POSITIONS, changes, changes.snapshot) });
}

/**
 * Applies an event to `Query.positions`, `Query.orders` and `Query.session` of the cache. The rows and the figures Apollo
 * itself has written; orders that the gateway has not said yet stay as they are.
 */
export function writeAccountChanges(
  cache: ApolloCache,
  { snapshot, positions, orders, session }: WrittenAccountChanges,
): void {
  cache.batch({
    update() {
      writeRows(cache, POSITIONS, positions, snapshot);
      if (orders === null && snapshot) withoutOrders.add(cache);
      if (orders) writeRows(cache, ORDERS, orders, withoutOrders.delete(cache) || snapshot);
      if (session)
        cache.writeQuery({ query: SESSION, data: { session: { __typename: 'Session' } } });
    },
  });
}

function writeRows(
  cache: ApolloCache,
  { __typename, query }: List,
  { upserted, closed }: WrittenRows,
  snapshot: boolean,
): void {
  const changed = upserted.map(({ id }) => id);
  const before = cache.readQuery({ query })?.rows?.map(({ id }) => id) ?? null;
  // Changes alone are no list.
  if (before === null && !snapshot) return;
  const left = new Set(snapshot ? changed : [...(before ?? []), ...changed]);
  for (const id of closed) left.delete(id);
  const rows = [...left].map((id): Row => ({ __typename, id }));
  cache.writeQuery({ query, data: { rows } });
  for (const id of before ?? []) {
    const dataId = cache.identify({ __typename, id });
    if (!left.has(id) && dataId !== undefined) cache.evict({ id: dataId });
  }
}

const POSITIONS: List = {
  __typename: 'Position',
  query: gql`
    query PositionIds {
      rows: positions {
        id
      }
    }
  `,
};
const ORDERS: List = {
  __typename: 'Order',
  query: gql`
    query OrderIds {
      rows: orders {
        id
      }
    }
  `,
};
const SESSION: TypedDocumentNode<{ session: { __typename: 'Session' } | null }> = gql`
  query SessionLink {
    session {
      __typename
    }
  }
`;
