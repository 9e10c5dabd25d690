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

/**
 * The forms of a document without `@defer`, and with that which is answered in parts; null if there is none. The items of
 * lists have none, because each would have a part of its own. A fragment that is spread in a list loses its `@defer`
 * everywhere. The document has passed validation and the limits, which bound this walk.
 */
export function formsOf({ schema, fragments }: Selections, document: DocumentNode) {
  const inLists = new Set<DirectiveNode>();
  const outside = new Set<DirectiveNode>();
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
      for (const directive of selection.directives ?? []) {
        if (directive.name.value === 'defer') (isInList ? inLists : outside).add(directive);
      }
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
  const isInOnePiece = [...outside].every((directive) => inLists.has(directive));
  return {
    document: without(document, new Set([...outside, ...inLists])),
    deferring: isInOnePiece ? null : without(document, inLists),
  };
}

/** Returns the same object if there is nothing to leave out. */
function without(document: DocumentNode, left: ReadonlySet<DirectiveNode>): DocumentNode {
  if (left.size === 0) return document;
  return visit(document, { Directive: (node) => (left.has(node) ? null : undefined) });
}
