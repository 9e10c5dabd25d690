import type { ListChanges } from './live-source.ts';

interface Row {
  readonly id: string;
}

/** The list itself where nothing changes. */
export function applyChanges<Each extends Row>(
  list: readonly Each[],
  { upserted, closed }: ListChanges<Each>,
): readonly Each[] {
  if (upserted.length === 0 && closed.length === 0) return list;
  const rows = byId(list);
  for (const id of closed) rows.delete(id);
  for (const row of upserted) rows.set(row.id, row);
  return [...rows.values()];
}

/** Rows that say the same stay the same objects, and the list too, so that a view draws nothing anew after a snapshot. */
export function withKnownRows<Each extends Row>(
  known: readonly Each[],
  list: readonly Each[],
): readonly Each[] {
  const rows = byId(known);
  const present = [...byId(list).values()].map((row) => {
    const before = rows.get(row.id);
    return before !== undefined && isSame(before, row) ? before : row;
  });
  const isUnchanged =
    present.length === known.length && present.every((row, at) => row === known[at]);
  return isUnchanged ? known : present;
}

export function isSame<Fields extends object>(a: Fields, b: Fields): boolean {
  const names = Object.keys(b) as (keyof Fields)[];
  return names.length === Object.keys(a).length && names.every((name) => a[name] === b[name]);
}

function byId<Each extends Row>(list: readonly Each[]): Map<string, Each> {
  return new Map(list.map((row) => [row.id, row]));
}
