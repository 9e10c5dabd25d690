import { blankWith, copyOf } from '../lib/blank-object.ts';
import { isObject } from '../lib/json.ts';
import type { Json } from './requests.ts';
import * as scalars from './scalars.ts';
import { type Moment, type NamedField, noteAbsent, type Reading, type Row } from './scalars.ts';
import type { FieldShape, Loss, ObjectShape, ScalarShape, Shape } from './shape.ts';

/** `path` leads to the value by the tables' names, for operators. It is empty or ends with a dot. */
type Read<Value> = (value: unknown, reading: Reading, path?: string) => Value | null;

/**
 * A field of an answer or a body: its name and type on the wire (`Sent`), the type that is read (`Value`), and the loss if
 * it is missing. In a table, a field has the name that resolvers expose.
 */
export interface Field<Value, Sent, Name extends string | null, Missing extends Loss>
  extends FieldShape {
  /** Null: the same name as in the table. */
  readonly name: Name;
  readonly missing: Missing;
  /** Returns null if the value cannot be read. */
  readonly read: Read<Value>;
  /** Whether the value has the right type; for a field whose valid values may be read as null, such as a new word. */
  readonly fits?: (value: unknown) => boolean;
  /** `value` and `sent` exist as types only. */
  readonly value?: Value;
  readonly sent?: Sent;
}

export type Fields = Readonly<Record<string, Field<unknown, unknown, string | null, Loss>>>;

/** A JSON object of the gateway's interface, field by field. */
export interface Table<F extends Fields> {
  readonly fields: F;
  /** The names on the wire, by the table's names. */
  readonly names: { readonly [Name in keyof F]: NameOf<F, Name> };
  /** The object as it is on the wire, for comparing and describing answers. */
  readonly shape: ObjectShape;
  /** The fields that the interface does not call optional. Of two fields with one name on the wire, the first. */
  readonly expected: readonly NamedField[];
  /** Returns null if the value is not an object, or lacks a required field. */
  readonly read: Read<ValueOf<F>>;
  /** Makes the object on the wire from values by the table's names, so that callers do not need the wire's names. */
  readonly toWire: (values: SentBy<F>) => WireOf<F>;
  /** Reads the row of a list. It does not record absent fields, because the list does that for all its rows. */
  readonly readRow: (row: Row, reading: Reading, path: string) => ValueOf<F> | null;
}

/** The readonly object that a table reads. */
export type ValueOf<F> = {
  readonly [Name in keyof F]: F[Name] extends { readonly missing: 'row' | 'answer' }
    ? ReadOf<F[Name]>
    : ReadOf<F[Name]> | null;
};
type ReadOf<One> = One extends { readonly value?: infer Value } ? Exclude<Value, undefined> : never;

type NameOf<F, Name extends keyof F> = F[Name] extends { readonly name: infer Wire extends string }
  ? Wire
  : Name & string;
type SentOf<One> = One extends { readonly sent?: infer Sent } ? Exclude<Sent, undefined> : never;

/** The complete object as it is on the wire: the type of bodies, and of the sandbox's answers. */
export type WireOf<F> = {
  -readonly [Name in keyof F as F[Name] extends NeverMissed ? never : NameOf<F, Name>]: SentOf<
    F[Name]
  >;
} & {
  -readonly [Name in keyof F as F[Name] extends NeverMissed ? NameOf<F, Name> : never]?:
    | SentOf<F[Name]>
    | null
    | undefined;
};
type NeverMissed = { readonly missing: 'nothing' };

/** The values of the complete object as they are sent, by the table's names. */
export type SentBy<F> = {
  readonly [Name in keyof F as F[Name] extends NeverMissed ? never : Name]: SentOf<F[Name]>;
} & {
  readonly [Name in keyof F as F[Name] extends NeverMissed ? Name : never]?:
    | SentOf<F[Name]>
    | null
    | undefined;
};

function scalar<Value, Sent = Value>(shape: ScalarShape, read: Read<Value>) {
  return { name: null, shape, missing: 'value', wrong: 'value', read } as Field<
    Value,
    Sent,
    null,
    'value'
  >;
}

export const text = scalar<string>({ kind: 'string' }, scalars.text);
export const filled = scalar<string>(
  { kind: 'string', isFilled: true },
  (value) => scalars.text(value) || null,
);
export const flag = scalar<boolean>({ kind: 'boolean' }, scalars.flag);
export const number = scalar<number>({ kind: 'number' }, scalars.figure);
/** The nearest double, for a field without which the row is left out. */
export const nearest = scalar<number>({ kind: 'number' }, scalars.nearest);
/** A price or a size that is sent. */
export const amount = scalar<number>({ kind: 'number', minimum: 0 }, scalars.figure);
export const integer = scalar<number>({ kind: 'number', isWhole: true }, scalars.integer);
/** A numeric identifier. All of its digits count, so its answer is parsed without losing any. */
export const numericId = scalar<string, number>({ kind: 'number', isId: true }, scalars.numericId);
export const time = scalar<Moment, number>({ kind: 'number', isTime: true }, scalars.instant);
/** Any JSON, unchanged. */
export const json = scalar<unknown, Exclude<Json, undefined>>(
  { kind: 'any' },
  (value) => value ?? null,
);
export const numbers = listOf<number>({ kind: 'number' }, (value) => typeof value === 'number');
export const texts = listOf<string>({ kind: 'string' }, (value) => typeof value === 'string');

function listOf<Value>(entry: ScalarShape, fits: (value: unknown) => boolean) {
  const read = (value: unknown) => (Array.isArray(value) && value.every(fits) ? value : null);
  return {
    ...scalar<readonly Value[]>(entry, read),
    shape: { kind: 'list', of: entry, wrong: 'row' } as Shape,
  };
}

/** One of several words. Another word is read as null, and only the value is lost. */
export function word<const Word extends string>(...words: readonly Word[]) {
  const known: ReadonlySet<unknown> = new Set(words);
  const read = (value: unknown) => (known.has(value) ? (value as Word) : null);
  return {
    ...scalar<Word | null, Word>({ kind: 'string', oneOf: words }, read),
    fits: (value: unknown) => typeof value === 'string',
  };
}

/** One of two words, chosen by a boolean on the wire. */
export function either<const Yes extends string, const No extends string>(yes: Yes, no: No) {
  return scalar<Yes | No, boolean>({ kind: 'boolean' }, (value) => {
    if (typeof value !== 'boolean') return null;
    return value ? yes : no;
  });
}

export function object<F extends Fields>({ shape, read }: Table<F>) {
  const field = { name: null, shape, missing: 'value', wrong: 'value', read } as const;
  return field as Field<ValueOf<F>, WireOf<F>, null, 'value'>;
}

/** A list that is complete or invalid: it is lost if one row is broken, or if two rows have the same id. */
export function wholeList<F extends Fields>(table: Table<F>) {
  const read = (list: unknown, reading: Reading, path = '') => {
    if (!Array.isArray(list)) return null;
    // The fields of all rows are recorded, even if the list turns out to be broken.
    noteAbsent(reading, `${path}[]`, list, table.expected);
    const rows = list.map((row) => (isObject(row) ? table.readRow(row, reading, path) : null));
    // A client that follows the list cannot distinguish two rows with one id.
    const ids = new Set<unknown>();
    for (const row of rows) ids.add(row?.id);
    const isWhole = !rows.includes(null) && ids.size === rows.length;
    return isWhole ? (rows as ValueOf<F>[]) : null;
  };
  const shape: Shape = { kind: 'list', of: table.shape, wrong: 'answer' };
  const field = { name: null, shape, missing: 'value', wrong: 'answer', read } as const;
  return field as Field<readonly ValueOf<F>[], readonly WireOf<F>[], null, 'value'>;
}

/** The same field with another name on the wire. */
export function from<Name extends string, Value, Sent, M extends Loss>(
  name: Name,
  field: Field<Value, Sent, null, M>,
): Field<Value, Sent, Name, M> {
  return { ...field, name };
}

function withLoss<M extends Loss>(missing: M, wrong: Loss) {
  return <Value, Sent, Name extends string | null>(field: Field<Value, Sent, Name, Loss>) =>
    ({ ...field, missing, wrong }) as Field<Value, Sent, Name, M>;
}

/** If the field is missing or of another type, the whole answer is lost. */
export const vital = withLoss('answer', 'answer');
/** If the field is missing or of another type, the row is left out. */
export const required = withLoss('row', 'row');
/** The field may be missing or null. If it is of another type, the row is left out. */
export const optional = withLoss('nothing', 'row');
/** The field may be missing or null. If it is of another type, it is read as null. */
export const unneeded = withLoss('nothing', 'value');

export function table<const F extends Fields>(name: string, fields: F): Table<F> {
  const onWire = Object.entries(fields).map(([key, field]) => [field.name ?? key, field] as const);
  const shape: ObjectShape = { kind: 'object', name, fields: Object.fromEntries(onWire) };
  const named = Object.keys(fields).map((key) => ({ name: key, wire: fields[key]?.name ?? key }));
  const wireNames = named.map(({ name, wire }) => [name, wire]);
  const names = Object.fromEntries(wireNames) as Table<F>['names'];
  const expected = named.filter(
    ({ wire }, index) =>
      shape.fields[wire]?.missing !== 'nothing' &&
      named.findIndex((other) => other.wire === wire) === index,
  );
  const readRow = rowReader(fields);
  const read = (value: unknown, reading: Reading, path = '') => {
    if (!isObject(value)) return null;
    noteAbsent(reading, path, [value], expected);
    return readRow(value, reading, path);
  };
  const toWire = (values: SentBy<F>) => {
    const given: Readonly<Record<string, unknown>> = values;
    const sent = named.filter(({ name }) => given[name] !== undefined);
    return Object.fromEntries(sent.map(({ name, wire }) => [wire, given[name]])) as WireOf<F>;
  };
  return {
    fields,
    names,
    shape,
    expected,
    toWire,
    read,
    readRow,
  };
}

/** Returns the function that reads a row: null if a field that the row needs is missing or wrong. */
function rowReader<F extends Fields>(fields: F): Table<F>['readRow'] {
  const steps = Object.entries(fields).map(([key, field]) => ({
    key,
    wire: field.name ?? key,
    read: field.read,
    fits: field.fits,
    innerPath: isNested(field.shape) ? `${key}.` : null,
    mustExist: isCostly(field.missing),
    mustFit: isCostly(field.missing) || isCostly(field.wrong),
  }));
  const blank = blankWith(Object.keys(fields));
  return (row, reading, path = '') => {
    const values: Record<string, unknown> = copyOf(blank);
    for (const { key, wire, read, fits, innerPath, mustExist, mustFit } of steps) {
      const sent = row[wire];
      const value = read(sent, reading, innerPath === null ? undefined : path + innerPath);
      if (mustFit && (mustExist || sent != null)) {
        if (fits === undefined ? value === null : !fits(sent)) return null;
      }
      values[key] = value;
    }
    return values as ReturnType<Table<F>['readRow']>;
  };
}

function isNested(shape: Shape): boolean {
  return shape.kind === 'object' || (shape.kind === 'list' && shape.of.kind === 'object');
}

/** Whether more than the value is lost. */
function isCostly(loss: Loss): boolean {
  return loss === 'row' || loss === 'answer';
}

/** Compares two objects by these names, in this order. */
export function equality<T>(names: readonly (keyof T & string)[]): (a: T, b: T) => boolean {
  return (a, b) => a === b || names.every((name) => a[name] === b[name]);
}
