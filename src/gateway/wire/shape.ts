/**
 * The shape of a JSON value, as the interface describes it. The types of the gateway's JSON follow from these
 * descriptions, and `trading-graph check` compares answers with them. The readers beside them stay written out: they are
 * the hot path.
 */
export type Shape = ScalarShape | ListShape | ObjectShape;

export interface ScalarShape<
  Kind extends 'string' | 'number' | 'boolean' = 'string' | 'number' | 'boolean',
> {
  readonly kind: Kind;
  /** A whole number of 32 bits, where the interface says number. */
  readonly isWhole?: true;
  /** An empty string counts as none. */
  readonly isFilled?: true;
  /** One of the gateway's numeric times, whose unit the interface does not name. */
  readonly isTime?: true;
  readonly oneOf?: readonly string[];
}

export interface ListShape<Of extends Shape = Shape> {
  readonly kind: 'list';
  readonly of: Of;
  /** The loss caused by a wrong entry. */
  readonly wrong: Loss;
}

interface ObjectShape<Fields extends FieldShapes = FieldShapes> {
  readonly kind: 'object';
  readonly fields: Fields;
}

type FieldShapes = Readonly<Record<string, FieldShape>>;

export interface FieldShape<Of extends Shape = Shape> {
  readonly shape: Of;
  readonly isOptional?: true;
  /** The loss where the field is missing, or null. */
  readonly missing: Loss;
  /** The loss where its type is another one. */
  readonly wrong: Loss;
}

/**
 * The loss to the service where a field is not as described: nothing, the value (it is null), the row
 * (an instrument is left out), or the whole answer (GATEWAY_CONTRACT).
 */
export type Loss = 'nothing' | 'value' | 'row' | 'answer';

/** A value as the gateway sends it where it keeps to the description. */
export type Wire<Of extends Shape> =
  Of extends ScalarShape<'string'>
    ? string
    : Of extends ScalarShape<'number'>
      ? number
      : Of extends ScalarShape<'boolean'>
        ? boolean
        : Of extends ListShape<infer Each>
          ? readonly Wire<Each>[]
          : Of extends ObjectShape<infer Fields>
            ? WireRow<Fields>
            : never;

/** An object as the gateway sends it. A field that is optional may as well be null. */
type WireRow<Fields extends FieldShapes> = {
  -readonly [Name in keyof Fields as IsOptional<Fields[Name]> extends true ? never : Name]: Wire<
    Fields[Name]['shape']
  >;
} & {
  -readonly [Name in keyof Fields as IsOptional<Fields[Name]> extends true ? Name : never]?:
    | Wire<Fields[Name]['shape']>
    | null
    | undefined;
};

type IsOptional<Field extends FieldShape> = Field extends OptionalShape ? true : false;

/** A field that may be missing, or null. */
interface OptionalShape<Of extends Shape = Shape> extends FieldShape<Of> {
  readonly isOptional: true;
}

export const string: ScalarShape<'string'> = { kind: 'string' };
export const filledString: ScalarShape<'string'> = { kind: 'string', isFilled: true };
export const number: ScalarShape<'number'> = { kind: 'number' };
export const wholeNumber: ScalarShape<'number'> = { kind: 'number', isWhole: true };
export const time: ScalarShape<'number'> = { kind: 'number', isTime: true };
export const boolean: ScalarShape<'boolean'> = { kind: 'boolean' };

export function object<const Fields extends FieldShapes>(fields: Fields): ObjectShape<Fields> {
  return { kind: 'object', fields };
}

/** A list of an account's own is whole, or it is no answer. */
export function wholeList<Of extends Shape>(of: Of): ListShape<Of> {
  return { kind: 'list', of, wrong: 'answer' };
}

/** The same description for several fields. */
export function each<Field extends FieldShape, const Name extends string>(
  field: Field,
  ...names: readonly Name[]
): Readonly<Record<Name, Field>> {
  return Object.fromEntries(names.map((name) => [name, field])) as Record<Name, Field>;
}

/** A field that is null where it is missing or of another type. */
export function nullable<Of extends Shape>(shape: Of): FieldShape<Of> {
  return { shape, missing: 'value', wrong: 'value' };
}

/** A field without which the answer cannot be used. */
export function vital<Of extends Shape>(shape: Of): FieldShape<Of> {
  return { shape, missing: 'answer', wrong: 'answer' };
}

/** A list that may be missing, and that is whole where it is there. */
export function wholeOrNone<Of extends Shape>(shape: Of): FieldShape<Of> {
  return { shape, missing: 'value', wrong: 'answer' };
}

/** A field of an instrument, which is left out of the catalog where it breaks its table. */
export function required<Of extends Shape>(shape: Of): FieldShape<Of> {
  return { shape, missing: 'row', wrong: 'row' };
}

export function optional<Of extends Shape>(shape: Of): OptionalShape<Of> {
  return { shape, isOptional: true, missing: 'nothing', wrong: 'row' };
}
