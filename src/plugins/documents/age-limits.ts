import type { FieldNode, GraphQLObjectType, OperationDefinitionNode } from 'graphql';
import { type Amount, lowest, provided } from '../cost/amount.ts';
import { isAgeLimit } from '../field-extensions.ts';
import { DocumentValues } from './document-values.ts';
import type { Selections } from './selections.ts';

/**
 * The lowest age limit that the root's fields ask for, in seconds; Infinity where none does. It is
 * determined before execution: an executor that works in slices resolves some fields when the read
 * that they share has long been answered.
 */
export function lowestAgeLimit(selections: Selections, operation: OperationDefinitionNode): Amount {
  const root = selections.schema.getRootType(operation.operation);
  if (!root) return Infinity;
  const values = new DocumentValues(operation);
  const collected = selections.collect(root, [{ node: operation, when: true }], (node) =>
    values.read(node),
  );
  const limits = [...collected.values()]
    .flat()
    .flatMap(({ node, when }) =>
      limitsOf(selections, root, node).map((value) =>
        provided(when, limitIn(values.read(value)), Infinity),
      ),
    );
  return lowest(limits);
}

function limitsOf({ schema }: Selections, root: GraphQLObjectType, node: FieldNode) {
  const args = schema.getField(root, node.name.value)?.args.filter(isAgeLimit) ?? [];
  const names = new Set(args.map(({ name }) => name));
  return (node.arguments ?? []).filter(({ name }) => names.has(name.value)).map((one) => one.value);
}

function limitIn(value: ReturnType<DocumentValues['read']>): Amount {
  return typeof value === 'function' ? (inputs) => limit(value(inputs)) : limit(value);
}

/** A negative limit is refused by its own field alone. */
function limit(value: unknown): number {
  return typeof value === 'number' && value >= 0 ? value : Infinity;
}
