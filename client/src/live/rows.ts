import type { ListChanges } from './live-source.ts';

/** Names a row among those of its list. */
export type KeyOf<Row> = (row: Row) => string;

export const idOf = ({ id }: { readonly id: string }): string => id;

/** For each list, the indexes of its rows by their keys. Lists with the same keys in the same order share one map. */
const knownIndexes = new WeakMap<object, ReadonlyMap<string, number>>();

export function rowOf<Row>(list: readonly Row[], key: string, keyOf: KeyOf<Row>): Row | undefined {
  const index = indexesOf(list, keyOf).get(key);
  return index === undefined ? undefined : list[index];
}

/** The list itself if nothing changes; null if a tick names a row that the list lacks. Equal rows stay the same objects. */
export function applyChanges<Row extends object>(
  list: readonly Row[],
  { upserted, ticks = [], closed }: ListChanges<Row>,
  keyOf: KeyOf<Row>,
): readonly Row[] | null {
  if (upserted.length + ticks.length + closed.length === 0) return list;
  const indexes = indexesOf(list, keyOf);
  const losesRows = closed.some((key) => indexes.has(key));
  const hasNewRows = !upserted.every((row) => indexes.has(keyOf(row)));
  if (losesRows || hasNewRows) {
    const rows = byKey(list, keyOf);
    for (const key of closed) rows.delete(key);
    for (const row of upserted) rows.set(keyOf(row), row);
    const present = withKnownRows(list, [...rows.values()], keyOf);
    return applyChanges(present, { upserted: [], ticks, closed: [] }, keyOf);
  }
  const changed = new Map<number, Row>();
  const put = (index: number, row: Row) => {
    if (changed.has(index) || !isSame(list[index] as Row, row)) changed.set(index, row);
  };
  for (const row of upserted) put(indexes.get(keyOf(row)) as number, row);
  for (const tick of ticks) {
    // A tick has the fields that its key is made of.
    const index = indexes.get(keyOf(tick as Row));
    if (index === undefined) return null;
    put(index, { ...(changed.get(index) ?? (list[index] as Row)), ...tick });
  }
  if (changed.size === 0) return list;
  const rows = [...list];
  for (const [index, row] of changed) rows[index] = row;
  knownIndexes.set(rows, indexes);
  return rows;
}

/** Equal rows stay the same objects, and an equal list too, so that a view redraws nothing after a snapshot. */
export function withKnownRows<Row extends object>(
  known: readonly Row[],
  list: readonly Row[],
  keyOf: KeyOf<Row>,
): readonly Row[] {
  const present = [...byKey(list, keyOf)].map(([key, row]) => {
    const before = rowOf(known, key, keyOf);
    return before !== undefined && isSame(before, row) ? before : row;
  });
  const isUnchanged =
    present.length === known.length && present.every((row, index) => row === known[index]);
  return isUnchanged ? known : present;
}

/** Whether two rows or figures are equal. Nested values, such as lists, are compared by their JSON. */
export function isSame<Fields extends object>(a: Fields, b: Fields): boolean {
  const names = Object.keys(b) as (keyof Fields)[];
  return names.length === Object.keys(a).length && names.every((name) => isEqual(a[name], b[name]));
}

function isEqual(a: unknown, b: unknown): boolean {
  return a === b || (Object(a) === a && JSON.stringify(a) === JSON.stringify(b));
}

function indexesOf<Row>(list: readonly Row[], keyOf: KeyOf<Row>): ReadonlyMap<string, number> {
  const known = knownIndexes.get(list);
  const indexes = known ?? new Map(list.map((row, index) => [keyOf(row), index]));
  if (!known) knownIndexes.set(list, indexes);
  return indexes;
}

function byKey<Row>(list: readonly Row[], keyOf: KeyOf<Row>): Map<string, Row> {
  return new Map(list.map((row) => [keyOf(row), row]));
}
