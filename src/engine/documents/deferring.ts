import {
  type DocumentNode,
  type GraphQLSchema,
  getNullableType,
  isListType,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { memo } from '../../lib/caches.ts';

/** The document that is answered in one piece; the same object if it has no `@defer`. */
export function withoutDefer(document: DocumentNode): DocumentNode {
  return visit(document, { Directive: ({ name }) => (name.value === 'defer' ? null : undefined) });
}

/**
 * Removes `@defer` from the items of lists, because each item would have a part of its own. A fragment that is spread in a
 * list loses its `@defer` everywhere.
 */
export function withoutDeferInLists(schema: GraphQLSchema, document: DocumentNode): DocumentNode {
  const inLists = fragmentsInLists(schema, document);
  return visitLists(schema, document, {
    isInList: (fragment) => inLists.has(fragment),
    keepsDirective: (name, isInList) => name !== 'defer' || !isInList,
  });
}

/** The names of the fragments that are spread in a list, or in such a fragment. */
function fragmentsInLists(schema: GraphQLSchema, document: DocumentNode): ReadonlySet<string> {
  const inLists = new Set<string>();
  const innerOf = new Map<string, string[]>();
  visitLists(schema, document, {
    onSpread(name, isInList, fragment) {
      if (isInList) inLists.add(name);
      else if (fragment !== null) memo(innerOf, fragment, (): string[] => []).push(name);
    },
  });
  // The loop visits the names that it adds as well.
  for (const name of inLists) for (const inner of innerOf.get(name) ?? []) inLists.add(inner);
  return inLists;
}

interface ListVisitor {
  /** Whether a fragment is spread in a list. */
  isInList?(fragment: string): boolean;
  /** `fragment`: the fragment that contains the spread; null in an operation. */
  onSpread?(name: string, isInList: boolean, fragment: string | null): void;
  keepsDirective?(name: string, isInList: boolean): boolean;
}

function visitLists(
  schema: GraphQLSchema,
  document: DocumentNode,
  { isInList = () => false, onSpread, keepsDirective = () => true }: ListVisitor,
): DocumentNode {
  const typeInfo = new TypeInfo(schema);
  /** The number of lists around the visited node. */
  let lists = 0;
  let fragment: string | null = null;
  const isList = () => isListType(getNullableType(typeInfo.getType()));
  return visit(
    document,
    visitWithTypeInfo(typeInfo, {
      OperationDefinition() {
        fragment = null;
        lists = 0;
      },
      FragmentDefinition({ name }) {
        fragment = name.value;
        lists = isInList(fragment) ? 1 : 0;
      },
      Field: {
        enter() {
          if (isList()) lists += 1;
        },
        leave() {
          if (isList()) lists -= 1;
        },
      },
      FragmentSpread: ({ name }) => onSpread?.(name.value, lists > 0, fragment),
      Directive: ({ name }) => (keepsDirective(name.value, lists > 0) ? undefined : null),
    }),
  );
}
