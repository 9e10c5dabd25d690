import { type ConstValueNode, Kind, type OperationDefinitionNode, type ValueNode } from 'graphql';
import type { CostInputs } from '../cost/amount.ts';

type Literal = number | boolean | null | undefined;

/** Reads numbers, booleans and the lengths of lists of a document or its variables; anything else is undefined. */
export class DocumentValues {
  readonly #defaults: ReadonlyMap<string, ConstValueNode | undefined>;

  constructor({ variableDefinitions = [] }: OperationDefinitionNode) {
    this.#defaults = new Map(
      variableDefinitions.map(({ variable, defaultValue }) => [variable.name.value, defaultValue]),
    );
  }

  /** The length of a list; undefined where neither the document nor a request's variables give one. */
  readLength(node: ValueNode): number | undefined | ((inputs: CostInputs) => number | undefined) {
    if (node.kind !== Kind.VARIABLE) return lengthOf(node);
    const name = node.name.value;
    const byDefault = this.#defaults.get(name);
    const fallback = byDefault && lengthOf(byDefault);
    return ({ variables }) => {
      if (!Object.hasOwn(variables, name)) return fallback;
      const given = variables[name];
      // GraphQL coerces a single value to a list of one.
      return Array.isArray(given) ? given.length : 1;
    };
  }

  /** Returns the value where the document fixes it, else a function that reads it from the variables. */
  read(node: ValueNode): Literal | ((inputs: CostInputs) => Literal) {
    if (node.kind !== Kind.VARIABLE) return literalOf(node);
    const name = node.name.value;
    const byDefault = this.#defaults.get(name);
    const fallback = byDefault && literalOf(byDefault);
    return ({ variables }) => {
      const given = Object.hasOwn(variables, name) ? variables[name] : fallback;
      return given === null || typeof given === 'number' || typeof given === 'boolean'
        ? given
        : undefined;
    };
  }
}

export function literalOf(node: ConstValueNode | ValueNode): Literal {
  if (node.kind === Kind.INT) return Number(node.value);
  if (node.kind === Kind.BOOLEAN) return node.value;
  return node.kind === Kind.NULL ? null : undefined;
}

function lengthOf(node: ConstValueNode | ValueNode): number {
  return node.kind === Kind.LIST ? node.values.length : 1;
}
