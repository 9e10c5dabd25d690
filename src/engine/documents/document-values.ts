import { type ConstValueNode, Kind, type OperationDefinitionNode, type ValueNode } from 'graphql';
import type { CostInputs } from './amount.ts';

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
  readLength(node: ValueNode) {
    // GraphQL coerces a single value to a list of one.
    return this.#read(node, lengthOf, (given) => (Array.isArray(given) ? given.length : 1));
  }

  /** Returns the value where the document fixes it, else a function that reads it from the variables. */
  read(node: ValueNode) {
    return this.#read(node, literalOf, (given) =>
      given === null || typeof given === 'number' || typeof given === 'boolean' ? given : undefined,
    );
  }

  /** Whether a value other than null is given. */
  readGiven(node: ValueNode) {
    return this.#read(
      node,
      ({ kind }) => kind !== Kind.NULL,
      (given) => given !== null,
    );
  }

  #read<T>(
    node: ValueNode,
    ofLiteral: (node: ValueNode) => T,
    ofGiven: (given: unknown) => T,
  ): T | ((inputs: CostInputs) => T | undefined) {
    if (node.kind !== Kind.VARIABLE) return ofLiteral(node);
    const name = node.name.value;
    const byDefault = this.#defaults.get(name);
    const fallback = byDefault && ofLiteral(byDefault);
    return ({ variables }) =>
      Object.hasOwn(variables, name) ? ofGiven(variables[name]) : fallback;
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
