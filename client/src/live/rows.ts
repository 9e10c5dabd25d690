import type { ListChanges } from './live-source.ts';

/** Names a row among those of its list. */
export type KeyOf<Row> = (row: Row) => string;

export const idOf = ({ id }: { readonly id: string }): string => id;

/** The list itself where nothing changes, null where a tick is of a row that it lacks. */
export function applyChanges<Row extends object>(
  list: readonly Row[],
  { upserted, ticks = [], closed }: ListChanges<Row>,
  keyOf: KeyOf<Row>,
): readonly Row[] | null {
  if (upserted.length + ticks.length + closed.length === 0) return list;
  const rows = byKey(list, keyOf);
  for (const key of closed) rows.delete(key);
  for (const row of upserted) rows.set(keyOf(row), row);
  for (const tick of ticks) {
    // A tick has the fields that its key is made of.
    const key = keyOf(tick as Row);
    const row = rows.get(key);
    if (row === undefined) return null;
    rows.set(key, { ...row, ...tick });
  }
  return [...rows.values()];
}

/** Rows that say the same stay the same objects, and the list too, so that a view draws nothing anew after a snapshot. */
export function withKnownRows<Row extends object>(
  known: readonly Row[],
  list: readonly Row[],
  keyOf: KeyOf<Row>,
): readonly Row[] {
  const rows = byKey(known, keyOf);
  const present = [...byKey(list, keyOf)].map(([key, row]) => {
    const before = rows.get(key);
    return before !== undefined && isSame(before, row) ? before : row;
  });
  const isUnchanged =
    present.length === known.length && present.every((row, at) => row === known[at]);
  return isUnchanged ? known : present;
}

/** Whether two rows or figures say the same. Values of their own, such as lists, are compared by their JSON. */
export function isSame<Fields extends object>(a: Fields, b: Fields): boolean {
  const names = Object.keys(b) as (keyof Fields)[];
  return names.length === Object.keys(a).length && names.every((name) => isEqual(a[name], b[name]));
}

function isEqual(a: unknown, b: unknown): boolean {
  return a === b || (Object(a) === a && JSON.stringify(a) === JSON.stringify(b));
}

function byKey<Row>(list: readonly Row[], keyOf: KeyOf<Row>): Map<string, Row> {
  return new Map(list.map((row) => [keyOf(row), row]));
}
