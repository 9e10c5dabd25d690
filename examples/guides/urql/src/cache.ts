import type { Cache } from '@urql/exchange-graphcache';
import { gql } from 'urql';

interface Changes {
  positionChanges: { snapshot: boolean; upserted: Row[]; ticks: Tick[]; closed: string[] };
}
type Row = { __typename: 'Position'; id: string };
type Tick = { id: string; profit: number | null };

const MOVING = gql`fragment Moving on Position { id profit }`;

export function foldPositions(data: object, _args: object, cache: Cache): void {
  const { snapshot, upserted, ticks, closed } = (data as Changes).positionChanges;
  const before = snapshot ? [] : (cache.resolve('Query', 'positions') as string[] | null);
  for (const { id, profit } of ticks) {
    cache.writeFragment(MOVING, { __typename: 'Position', id, profit });
  }
  // Changes alone are no list.
  if (!before) return;
  const gone = new Set(closed.map((id) => cache.keyOfEntity({ __typename: 'Position', id })));
  const kept = before.filter((key) => !gone.has(key));
  const changed = upserted.map((row) => cache.keyOfEntity(row));
  cache.link('Query', 'positions', [...new Set([...kept, ...changed])]);
}
