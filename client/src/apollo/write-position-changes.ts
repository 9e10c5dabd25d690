import { type ApolloCache, gql, type TypedDocumentNode } from '@apollo/client';

/** The fields that an event of `positionChanges` must have selected. */
export interface WrittenChanges {
  readonly snapshot: boolean;
  readonly upserted: readonly { readonly id: string }[];
  readonly closed: readonly string[];
}

interface Row {
  readonly __typename: 'Position';
  readonly id: string;
}

/**
 * Applies an event to `Query.positions` of the cache, and evicts the positions that are closed. Apollo itself has written the
 * rows of the event, by their ids.
 */
export function writePositionChanges(
  cache: ApolloCache,
  { snapshot, upserted, closed }: WrittenChanges,
): void {
  const changed = upserted.map(({ id }) => id);
  cache.batch({
    update() {
      const known = cache.readQuery({ query: POSITION_IDS });
      const before = known?.positions?.map(({ id }) => id) ?? null;
      // Changes alone are no list.
      if (before === null && !snapshot) return;
      const left = new Set(snapshot ? changed : [...(before ?? []), ...changed]);
      for (const id of closed) left.delete(id);
      const positions = [...left].map((id): Row => ({ __typename: 'Position', id }));
      cache.writeQuery({ query: POSITION_IDS, data: { positions } });
      for (const id of before ?? []) {
        const dataId = cache.identify({ __typename: 'Position', id });
        if (!left.has(id) && dataId !== undefined) cache.evict({ id: dataId });
      }
    },
  });
}

const POSITION_IDS: TypedDocumentNode<{ positions: readonly Row[] | null }> = gql`
  query PositionIds {
    positions {
      id
    }
  }
`;
