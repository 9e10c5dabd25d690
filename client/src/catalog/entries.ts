import { type CatalogCopy, compareInstruments } from './catalog-copy.ts';
import type { KeyFields } from './instrument.ts';
import type { Entry } from './stored-copy.ts';

/** A slow phone takes some milliseconds for so many. */
export const ENTRY_SIZE = 250;

/** Divides a copy among entries, which keep the instruments that they have; one of which nothing has changed is the same object. */
export function divide(
  copy: CatalogCopy<KeyFields>,
  former: readonly (Entry | null)[],
): readonly Entry[] {
  const { version, byId } = copy;
  const rowsOf = former.map((entry) => (entry?.rows ?? []).flatMap(({ id }) => byId.get(id) ?? []));
  const placed = new Set(rowsOf.flat());
  const added = placed.size < copy.all.length ? copy.all.filter((row) => !placed.has(row)) : [];
  let next = 0;
  for (let at = 0; next < added.length; at += 1) {
    const rows = rowsOf[at] ?? [];
    const room = Math.max(0, ENTRY_SIZE - rows.length);
    rowsOf[at] = rows.concat(added.slice(next, next + room));
    next += room;
  }
  return rowsOf.map((rows, at) => {
    const entry = former[at];
    const isSame = (row: KeyFields, of: number) => row === entry?.rows[of];
    if (entry?.rows.length === rows.length && rows.every(isSame)) return entry;
    return { version, rows: rows.sort(compareInstruments) };
  });
}
