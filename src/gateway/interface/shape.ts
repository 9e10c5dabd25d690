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

interface ObjectShape {
  readonly kind: 'object';
  readonly fields: FieldShapes;
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

export const string: ScalarShape = { kind: 'string' };
export const filledString: ScalarShape = { kind: 'string', isFilled: true };
export const number: ScalarShape = { kind: 'number' };
export const wholeNumber: ScalarShape = { kind: 'number', isWhole: true };
export const numericId: ScalarShape = { kind: 'number', isId: true };
export const time: ScalarShape = { kind: 'number', isTime: true };
export const boolean: ScalarShape = { kind: 'boolean' };

export function object(fields: FieldShapes): ObjectShape {
  return { kind: 'object', fields };
}

/** A list of an account's own is whole, or it is no answer. */
export function wholeList(of: Shape): ListShape {
  return { kind: 'list', of, wrong: 'answer' };
}

/** The same description for several fields. */
export function each(field: FieldShape, ...names: readonly string[]): FieldShapes {
  return Object.fromEntries(names.map((name) => [name, field]));
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
export function required(shape: Shape): FieldShape {
  return { shape, missing: 'row', wrong: 'row' };
}

/** A field of an instrument that may be missing, or null. */
export function optional(shape: Shape): FieldShape {
  return { shape, missing: 'nothing', wrong: 'row' };
}
