/** Sizes a list at run time; called only where a document selects such a list. */
export type SizeOf = (name: string) => number;

/** Inputs of a cost beside the document. */
export interface CostInputs {
  readonly variables: Readonly<Record<string, unknown>>;
  /** Returns the number of entries of a list whose size the schema names. */
  readonly sizeOf: SizeOf;
}

/** A number, or a function of a request's inputs; the constant part is computed once, on preparation. */
export type Amount = number | ((inputs: CostInputs) => number);

export type Condition = boolean | ((inputs: CostInputs) => boolean);

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
  if (one === 1) return other;
  if (other === 1) return one;
  if (typeof one === 'number' && typeof other === 'number') return one * other;
  return (inputs) => evaluate(one, inputs) * evaluate(other, inputs);
}

/** The largest of the amounts by `Math.max`, the lowest by `Math.min`. */
export function extreme(
  of: (...values: readonly number[]) => number,
  amounts: readonly Amount[],
): Amount {
  if (amounts.every((one) => typeof one === 'number')) return of(...amounts);
  return (inputs) => of(...amounts.map((one) => evaluate(one, inputs)));
}

/** The amount where any of the conditions is true, else another. */
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
