import { isRow, type Reading, seenRows } from './scalars.ts';

export type Scalar = (value: unknown, reading: Reading) => unknown;

/** Describes a part of an answer as the interface does: a value by its reader, a list as `[each]`, a row by its fields. */
export type Description = Scalar | readonly [Description] | Fields;
export type Fields = { readonly [field: string]: Description };

/** The value that is read by a description: null if it is no such row, or no such list without a null in it. */
type ValueOf<D> = D extends Scalar
  ? ReturnType<D>
  : D extends readonly [infer Each]
    ? readonly NonNullable<ValueOf<Each>>[] | null
    : { readonly [Field in keyof D]: ValueOf<D[Field]> } | null;

/** `take`: what is kept of a value as described; null where it cannot do without a part that is null. */
export function described<const D extends Description, T>(
  description: D,
  take: (value: NonNullable<ValueOf<D>>) => T | null,
) {
  const map = (body: unknown, reading: Reading): T | null => {
    const value = valueIn(description, body, reading) as ValueOf<D>;
    return value === null ? null : take(value as NonNullable<ValueOf<D>>);
  };
  return { description, map };
}

function valueIn(description: Description, value: unknown, reading: Reading, path = ''): unknown {
  if (typeof description === 'function') return description(value, reading);
  if (Array.isArray(description)) {
    if (!Array.isArray(value)) return null;
    const list = value.map((entry) => valueIn(description[0], entry, reading, path));
    return list.includes(null) ? null : list;
  }
  if (!isRow(value)) return null;
  seenRows(reading, path, Object.keys(description)).add(value);
  const fields = Object.entries(description).map(([name, of]) => [
    name,
    valueIn(of, value[name], reading, `${path}${name}.`),
  ]);
  return Object.fromEntries(fields);
}
