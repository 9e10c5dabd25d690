import type { Comparison } from './compare.ts';

/** The fields that the answers of an operation had, by how many answers in a row had each in every row; 0: in some rows only. */
export type Known = Readonly<Record<string, number>>;

/** So many answers without a null are no chance: the first null everywhere is a loss. */
const SURE = 20;

/** Compares how the fields of one answer were found with what earlier ones had. Fields without a row to look at tell nothing. */
export function learn(before: Known, fields: Comparison['fields']) {
  const known: Record<string, number> = { ...before };
  const had = new Set<string>();
  const lost: string[] = [];
  for (const { path, expected, seen, loss } of fields) {
    const { [expected]: right = 0, missing = 0, null: nulls = 0 } = seen;
    const total = Object.values(seen).reduce((sum, times) => sum + times, 0);
    const times = before[path];
    if (right > 0) {
      had.add(path);
      const isInEach = missing + nulls === 0 && times !== 0;
      known[path] = isInEach ? Math.min((times ?? 0) + 1, SURE) : 0;
    } else if (total > 0 && times !== undefined && loss !== 'nothing') {
      const isOfAnotherType = missing + nulls < total;
      // A field that some rows lack, an account of one position may lack; and nulls have a meaning of their own, until they never came.
      const isGone = times > 0 && (nulls === 0 || times === SURE);
      if (isOfAnotherType || isGone) lost.push(path);
    }
  }
  const isNew = Object.entries(known).some(([path, times]) => before[path] !== times);
  const isUnseen = ({ path, seen }: Comparison['fields'][number]) =>
    Object.hasOwn(before, path) && Object.keys(seen).length === 0;
  return { known: known as Known, had, lost, isNew, hasUnseen: fields.some(isUnseen) };
}

/** A text that is none of ours is nothing known. */
export function readKnown(text: string | null): Known {
  try {
    return Object(JSON.parse(text ?? '{}'));
  } catch {
    return {};
  }
}
