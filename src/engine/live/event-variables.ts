import { type DocumentNode, Kind, type OperationDefinitionNode, visit } from 'graphql';

/**
 * True where variables affect what an event contains. The arguments of the subscription itself do
 * not: they select its events.
 */
export function usesVariablesInEvents(
  document: DocumentNode,
  { selectionSet }: OperationDefinitionNode,
): boolean {
  const roots = new Set<unknown>(selectionSet.selections);
  let uses = false;
  visit(document, {
    [Kind.VARIABLE_DEFINITION]: () => false,
    [Kind.ARGUMENT]: (_argument, _key, _parent, _path, ancestors) =>
      roots.has(ancestors.at(-1)) ? false : undefined,
    [Kind.VARIABLE]: () => {
      uses = true;
    },
  });
  return uses;
}
