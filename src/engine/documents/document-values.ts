import { Kind, type OperationDefinitionNode, type ValueNode } from 'graphql';
import type { CostInputs, Fixed } from './amount.ts';

/** Reads a value of a document: a literal, or a function that reads it from a request's variables. */
export type ReadValue = (node: ValueNode) => Fixed<unknown>;

export function valueReader({ variableDefinitions = [] }: OperationDefinitionNode): ReadValue {
  const defaults = new Map(
    variableDefinitions.map(({ variable, defaultValue }) => [
      variable.name.value,
      defaultValue && literalOf(defaultValue),
    ]),
  );
  return (node) => {
    if (node.kind !== Kind.VARIABLE) return literalOf(node);
    const name = node.name.value;
    return ({ variables }: CostInputs) =>
      Object.hasOwn(variables, name) ? variables[name] : defaults.get(name);
  };
}

/**
 * Does not read the entries of lists and objects: the cost depends only on a list's length, and on whether an object is
 * given.
 */
export function literalOf(node: ValueNode): unknown {
  if (node.kind === Kind.INT) return Number(node.value);
  if (node.kind === Kind.BOOLEAN) return node.value;
  if (node.kind === Kind.LIST) return node.values;
  return node.kind === Kind.NULL ? null : node;
}
