/** Called only where a document selects such a list. */
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

export function largest(amounts: readonly Amount[]): Amount {
  const [only = 0, ...others] = amounts;
  if (others.length === 0) return only;
  if (amounts.every((one) => typeof one === 'number')) return Math.max(...amounts);
  return (inputs) => Math.max(...amounts.map((one) => evaluate(one, inputs)));
}

/** Infinity where there are none. */
export function lowest(amounts: readonly Amount[]): Amount {
  if (amounts.every((one) => typeof one === 'number')) return Math.min(...amounts);
  return (inputs) => Math.min(...amounts.map((one) => evaluate(one, inputs)));
}

/** The amount where the condition is true, else another. */
export function provided(condition: Condition, amount: Amount, otherwise: number): Amount {
  if (typeof condition === 'boolean') return condition ? amount : otherwise;
  return (inputs) => (condition(inputs) ? evaluate(amount, inputs) : otherwise);
}

/** The amount where any of the conditions is true, else 0. */
export function whereAny(conditions: readonly Condition[], amount: Amount): Amount {
  if (amount === 0 || conditions.includes(true)) return amount;
  const open = conditions.filter((one) => typeof one === 'function');
  if (open.length === 0) return 0;
  return (inputs) => (open.some((holds) => holds(inputs)) ? evaluate(amount, inputs) : 0);
}

export function both(one: Condition, other: Condition): Condition {
  if (one === false || other === false) return false;
  if (one === true) return other;
  if (other === true) return one;
  return (inputs) => one(inputs) && other(inputs);
}
