import { graphql, type RecordProxy, type SelectorStoreUpdater } from 'relay-runtime';
import type { liveSubscription } from './__generated__/liveSubscription.graphql';

export const LIVE = graphql`
  subscription liveSubscription($after: String) {
    positionChanges(after: $after, intervalMs: 500) {
      cursor snapshot upserted { id symbol units profit } ticks { id profit } closed status asOf
    }
  }
`;

export const foldPositions: SelectorStoreUpdater<liveSubscription['response']> = (store, data) => {
  if (!data) return;
  const { snapshot, ticks, closed } = data.positionChanges;
  const root = store.getRoot();
  const rows = new Map<string, RecordProxy>();
  const before = snapshot ? [] : root.getLinkedRecords('positions');
  const changed = store.getRootField('positionChanges').getLinkedRecords('upserted') ?? [];
  // Changes alone are no list.
  if (!before) return;
  for (const row of before) rows.set(row.getDataID(), row);
  for (const id of closed) rows.delete(`Position:${id}`);
  for (const row of changed) rows.set(row.getDataID(), row);
  for (const { id, profit } of ticks) rows.get(`Position:${id}`)?.setValue(profit, 'profit');
  root.setLinkedRecords([...rows.values()], 'positions');
};
