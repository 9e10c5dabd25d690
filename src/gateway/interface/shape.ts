/** The shape of a JSON value, as the interface describes it, with which answers are compared. */
export type Shape = ScalarShape | ListShape | ObjectShape;

export interface ScalarShape {
  readonly kind: 'string' | 'number' | 'boolean';
  /** A whole number of 32 bits, where the interface says number. */
  readonly isWhole?: true;
  /** A number that is an identifier: all of its digits count. */
  readonly isId?: true;
  /** An empty string counts as none. */
  readonly isFilled?: true;
  /** One of the gateway's numeric times, whose unit the interface does not name. */
  readonly isTime?: true;
  readonly oneOf?: readonly string[];
}

interface ListShape {
  readonly kind: 'list';
  readonly of: Shape;
  /** The loss caused by a wrong entry. */
  readonly wrong: Loss;
}

export interface ObjectShape {
  readonly kind: 'object';
  readonly fields: FieldShapes;
}

/** The names of the fields that the interface does not call optional. */
export function expectedNames({ fields }: ObjectShape): readonly string[] {
  return Object.keys(fields).filter((name) => fields[name]?.missing !== 'nothing');
}

type FieldShapes = Readonly<Record<string, FieldShape>>;

export interface FieldShape {
  readonly shape: Shape;
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

export const string = { kind: 'string' } as const;
export const filledString = { kind: 'string', isFilled: true } as const;
export const number = { kind: 'number' } as const;
export const wholeNumber = { kind: 'number', isWhole: true } as const;
export const numericId = { kind: 'number', isId: true } as const;
export const time = { kind: 'number', isTime: true } as const;
export const boolean = { kind: 'boolean' } as const;

export function object<const Fields extends FieldShapes>(fields: Fields) {
  return { kind: 'object', fields } as const;
}

/** A list of an account's own is whole, or it is no answer. */
export function wholeList(of: Shape): ListShape {
  return { kind: 'list', of, wrong: 'answer' };
}

/** The same description for several fields. */
export function each<const Field extends FieldShape, const Name extends string>(
  field: Field,
  ...names: readonly Name[]
) {
  return Object.fromEntries(names.map((name) => [name, field])) as Readonly<Record<Name, Field>>;
}

/** A field that is null where it is missing or of another type. */
export function nullable(shape: Shape): FieldShape {
  return { shape, missing: 'value', wrong: 'value' };
}

/** A field without which the answer cannot be used. */
export function vital(shape: Shape): FieldShape {
  return { shape, missing: 'answer', wrong: 'answer' };
}

/** A list that may be missing, and that is whole where it is there. */
export function wholeOrNone(shape: Shape): FieldShape {
  return { shape, missing: 'value', wrong: 'answer' };
}

/** A field of an instrument, which is left out of the catalog where it breaks its table. */
export function required<const Of extends Shape>(shape: Of) {
  return { shape, missing: 'row', wrong: 'row' } as const;
}

/** A field of an instrument that may be missing, or null. */
export function optional<const Of extends Shape>(shape: Of) {
  return { shape, missing: 'nothing', wrong: 'row' } as const;
}

/** The value that a shape describes. */
export type ValueOf<Of> = Of extends { readonly kind: 'list'; readonly of: infer Each }
  ? readonly ValueOf<Each>[]
  : Of extends { readonly kind: 'object'; readonly fields: infer Fields }
    ? RowOf<Fields>
    : Of extends { readonly kind: keyof Scalars }
      ? Scalars[Of['kind']]
      : never;

interface Scalars {
  readonly string: string;
  readonly number: number;
  readonly boolean: boolean;
}

type Optional<Fields> = {
  [Name in keyof Fields]: Fields[Name] extends { readonly missing: 'nothing' } ? Name : never;
}[keyof Fields];
type FieldOf<Field> = Field extends { readonly shape: infer Of } ? ValueOf<Of> : never;
type RowOf<Fields> = {
  -readonly [Name in Exclude<keyof Fields, Optional<Fields>>]: FieldOf<Fields[Name]>;
} & { -readonly [Name in Optional<Fields>]?: FieldOf<Fields[Name]> | null | undefined };
