import { graphql, type RecordProxy, type SelectorStoreUpdater } from 'relay-runtime';
import type { liveSubscription } from './__generated__/liveSubscription.graphql';

export const LIVE = graphql`
  subscription liveSubscription($after: String) {
    positionChanges(after: $after, intervalMs: 500) {
      cursor snapshot upserted { id symbol units profit } closed status asOf
    }
  }
`;

export const foldPositions: SelectorStoreUpdater<liveSubscription['response']> = (store, data) => {
  if (!data) return;
  const { snapshot, closed } = data.positionChanges;
  const root = store.getRoot();
  const rows = new Map<string, RecordProxy>();
  const before = snapshot ? [] : (root.getLinkedRecords('positions') ?? []);
  const changed = store.getRootField('positionChanges').getLinkedRecords('upserted') ?? [];
  for (const row of before) rows.set(row.getDataID(), row);
  for (const id of closed) rows.delete(`Position:${id}`);
  for (const row of changed) rows.set(row.getDataID(), row);
  root.setLinkedRecords([...rows.values()], 'positions');
};
