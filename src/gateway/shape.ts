/** The shape of a JSON value in the gateway's interface, with which answers are compared. */
export type Shape = ScalarShape | ListShape | ObjectShape;

export interface ScalarShape {
  /** `any`: any JSON. */
  readonly kind: 'string' | 'number' | 'boolean' | 'any';
  /** A whole number of 32 bits; the interface says only number. */
  readonly isWhole?: true;
  /** A number that is an identifier: all of its digits count. */
  readonly isId?: true;
  /** An empty string counts as missing. */
  readonly isFilled?: true;
  /** A numeric time, whose unit the interface does not name. */
  readonly isTime?: true;
  readonly oneOf?: readonly string[];
  /** The smallest value that is sent. */
  readonly minimum?: number;
}

interface ListShape {
  readonly kind: 'list';
  readonly of: Shape;
  /** The loss caused by a wrong entry. */
  readonly wrong: Loss;
}

export interface ObjectShape {
  readonly kind: 'object';
  /** Its name in the interface. */
  readonly name: string;
  readonly fields: Readonly<Record<string, FieldShape>>;
}

export interface FieldShape {
  readonly shape: Shape;
  /** The loss if the field is missing or null. */
  readonly missing: Loss;
  /** The loss if the field has another type. */
  readonly wrong: Loss;
}

/**
 * The loss if a field is not as described: nothing, the value (it is null), the row (an instrument is left out), or the
 * whole answer (GATEWAY_CONTRACT).
 */
export type Loss = 'nothing' | 'value' | 'row' | 'answer';
