import type { Cache } from '@urql/exchange-graphcache';

interface Changes {
  positionChanges: { snapshot: boolean; upserted: Row[]; closed: string[] };
}
type Row = { __typename: 'Position'; id: string };

export function foldPositions(data: object, _args: object, cache: Cache): void {
  const { snapshot, upserted, closed } = (data as Changes).positionChanges;
  const before = snapshot ? [] : ((cache.resolve('Query', 'positions') as string[] | null) ?? []);
  const gone = new Set(closed.map((id) => cache.keyOfEntity({ __typename: 'Position', id })));
  const kept = before.filter((key) => !gone.has(key));
  const changed = upserted.map((row) => cache.keyOfEntity(row));
  cache.link('Query', 'positions', [...new Set([...kept, ...changed])]);
}
