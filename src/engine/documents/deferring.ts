import {
  type DirectiveNode,
  type DocumentNode,
  type GraphQLNamedType,
  getNamedType,
  getNullableType,
  isCompositeType,
  isListType,
  Kind,
  type SelectionSetNode,
  visit,
} from 'graphql';
import type { Selections } from '../core/selections.ts';

/** The forms of a document without `@defer`, and with that which is answered in parts; null if there is none. */
export function formsOf(selections: Selections, document: DocumentNode) {
  const plain = withoutDefer(document);
  if (plain === document) return { document, deferring: null };
  const deferring = withoutDeferInLists(selections, document);
  return { document: plain, deferring: withoutDefer(deferring) === deferring ? null : deferring };
}

/** Returns the same object if it has no `@defer`. */
function withoutDefer(document: DocumentNode): DocumentNode {
  return visit(document, { Directive: ({ name }) => (name.value === 'defer' ? null : undefined) });
}

/**
 * Removes `@defer` from the items of lists, because each item would have a part of its own. A fragment that is spread in a
 * list loses its `@defer` everywhere. The document has passed validation and the limits, which bound this walk.
 */
function withoutDeferInLists(
  { schema, fragments }: Selections,
  document: DocumentNode,
): DocumentNode {
  const inLists = new Set<DirectiveNode>();
  function walk(type: GraphQLNamedType | undefined, set: SelectionSetNode, isInList: boolean) {
    if (!isCompositeType(type)) return;
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        const field = schema.getField(type, selection.name.value);
        if (!field || !selection.selectionSet) continue;
        const isList = isListType(getNullableType(field.type));
        walk(getNamedType(field.type), selection.selectionSet, isInList || isList);
        continue;
      }
      if (isInList) for (const directive of selection.directives ?? []) inLists.add(directive);
      const isSpread = selection.kind === Kind.FRAGMENT_SPREAD;
      const fragment = isSpread ? fragments.get(selection.name.value) : selection;
      const condition = fragment?.typeCondition?.name.value;
      const inner = condition === undefined ? type : schema.getType(condition);
      if (fragment) walk(inner, fragment.selectionSet, isInList);
    }
  }
  for (const node of document.definitions) {
    if (node.kind !== Kind.OPERATION_DEFINITION) continue;
    walk(schema.getRootType(node.operation) ?? undefined, node.selectionSet, false);
  }
  return visit(document, {
    Directive: (node) => (node.name.value === 'defer' && inLists.has(node) ? null : undefined),
  });
}
