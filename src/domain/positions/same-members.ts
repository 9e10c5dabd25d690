import type { Position } from '../../gateway/model.ts';

/**
 * Whether a snapshot was taken while the account had these positions, of these sizes. Null, for a snapshot
 * without a list, agrees with none. The interface promises no order; no list has an id twice.
 */
export function sameMembers(
  snapshot: readonly Position[] | null,
  list: readonly Position[],
): boolean {
  if (snapshot?.length !== list.length) return false;
  if (snapshot.every((position, at) => isSame(position, list[at]))) return true;
  const byId = new Map(list.map((position) => [position.id, position]));
  return snapshot.every((position) => isSame(position, byId.get(position.id)));
}

/** A size that either of them lacks says nothing. */
function isSame(a: Position, b: Position | undefined): boolean {
  if (b === undefined || a.id !== b.id) return false;
  return a.units === b.units || a.units === null || b.units === null;
}
