/** Returns the size of a list at run time. Called only if a document selects such a list. */
export type SizeOf = (name: string) => number;

/** The inputs of an operation's cost that are not in its document. */
export interface CostInputs {
  readonly variables: Readonly<Record<string, unknown>>;
  /** Returns the number of entries of a list that the schema names. */
  readonly sizeOf: SizeOf;
}

/** A value that the document fixes, or a function of the request. Fixed parts are computed once, on preparation. */
export type Fixed<T> = T | ((inputs: CostInputs) => T);
export type Amount = Fixed<number>;
export type Condition = Fixed<boolean>;

export function evaluate(amount: Amount, inputs: CostInputs): number {
  return typeof amount === 'number' ? amount : amount(inputs);
}

export function sum(amounts: readonly Amount[]): Amount {
  const constants = amounts.filter((one) => typeof one === 'number');
  const fixed = constants.reduce((total, one) => total + one, 0);
  const open = amounts.filter((one) => typeof one === 'function');
  if (open.length === 0) return fixed;
  return (inputs) => open.reduce((total, one) => total + one(inputs), fixed);
}

export function product(one: Amount, other: Amount): Amount {
  if (one === 0 || other === 0) return 0;
  return derived([one, other], (left, right) => left * right);
}

/** Computes an amount from values, which cannot be functions themselves. */
export function derived<T>(
  values: readonly Fixed<T>[],
  compute: (...values: readonly T[]) => number,
): Amount {
  const read = (inputs: CostInputs | null) =>
    values.map((one) =>
      typeof one === 'function' ? (one as (from: typeof inputs) => T)(inputs) : one,
    );
  const isOpen = values.some((one) => typeof one === 'function');
  return isOpen ? (inputs) => compute(...read(inputs)) : compute(...read(null));
}

/** The amount if any of the conditions is true; otherwise the other one. */
export function whereAny(conditions: readonly Condition[], amount: Amount, otherwise = 0): Amount {
  if (amount === otherwise || conditions.includes(true)) return amount;
  const open = conditions.filter((one) => typeof one === 'function');
  if (open.length === 0) return otherwise;
  return (inputs) => (open.some((holds) => holds(inputs)) ? evaluate(amount, inputs) : otherwise);
}

export function both(one: Condition, other: Condition): Condition {
  if (one === false || other === false) return false;
  if (one === true) return other;
  if (other === true) return one;
  return (inputs) => one(inputs) && other(inputs);
}
