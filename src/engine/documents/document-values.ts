import { type ConstValueNode, Kind, type OperationDefinitionNode, type ValueNode } from 'graphql';
import type { CostInputs } from '../limits/amount.ts';

type Literal = number | boolean | null | undefined;

/** Reads the numbers and booleans of a document or its variables; anything else reads as undefined. */
export class DocumentValues {
  readonly #defaults = new Map<string, Literal>();

  constructor({ variableDefinitions }: OperationDefinitionNode) {
    for (const { variable, defaultValue } of variableDefinitions ?? []) {
      this.#defaults.set(variable.name.value, defaultValue && literalOf(defaultValue));
    }
  }

  /** Returns the value where the document fixes it, else a function that reads it from the variables. */
  read(node: ValueNode): Literal | ((inputs: CostInputs) => Literal) {
    if (node.kind !== Kind.VARIABLE) return literalOf(node);
    const name = node.name.value;
    const fallback = this.#defaults.get(name);
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
