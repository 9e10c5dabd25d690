import {
  type DocumentNode,
  type GraphQLField,
  type GraphQLNamedType,
  getNamedType,
  isAbstractType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionNode,
  type SelectionSetNode,
  visit,
} from 'graphql';
import { type Sharing, sharingOf } from '../field-traits.ts';
import type { Selections } from './selections.ts';

/** Describes an operation whose results may be shared: a query's by a group of users, a subscription's by its account. */
export interface SharedUse {
  /**
   * The operation selects what differs between copies of one version, such as age: its body is not
   * cached.
   */
  readonly selectsTime: boolean;
  /** True once a run has read more than the marks of its fields allow: no result of it is shared any more. */
  isBarred: boolean;
}

/**
 * Null where a selected field is not marked as a group's, of a subscription as the account's, or where variables affect
 * what an event contains: such a result is never shared.
 */
export function sharedUseOf(
  selections: Selections,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): SharedUse | null {
  if (operation.operation === OperationTypeNode.MUTATION) return null;
  const marks = marksOf(selections, operation);
  // An operation without marks selects only `__typename` of the root, which has no version.
  if (marks === null || marks.size === 0) return null;
  const isOfEvents = operation.operation === OperationTypeNode.SUBSCRIPTION;
  const isOfOthers = isOfEvents ? marks.size > 1 || !marks.has('account') : marks.has('account');
  if (isOfOthers || (isOfEvents && usesVariablesInEvents(document, operation))) return null;
  return { selectsTime: marks.has('copy'), isBarred: false };
}

/**
 * The marks of all fields that an operation selects, whatever its variables include or skip. Null
 * where a field has none, as the fields of introspection do.
 */
export function marksOf(
  selections: Selections,
  { operation, selectionSet }: OperationDefinitionNode,
): ReadonlySet<Sharing> | null {
  const { schema } = selections;
  const marks = new Set<Sharing>();
  // Fragments and abstract types reach the same selections by several paths.
  const visited = new Map<SelectionSetNode, Set<GraphQLNamedType>>();

  /** Returns false where a field has no mark. */
  function collect(type: GraphQLNamedType | undefined, selectionSet: SelectionSetNode): boolean {
    if (!type) return false;
    const types = visited.get(selectionSet) ?? new Set();
    visited.set(selectionSet, types);
    if (types.has(type)) return true;
    types.add(type);
    return selectionSet.selections.every((selection) => select(type, selection));
  }

  function select(type: GraphQLNamedType, selection: SelectionNode): boolean {
    if (selection.kind === Kind.FIELD) {
      const { name, selectionSet } = selection;
      // `__typename` comes from the schema.
      if (name.value === '__typename') return true;
      return fieldsOf(type, name.value).every((field) => mark(field, selectionSet));
    }
    const fragment = selections.fragmentOf(selection);
    if (!fragment) return false;
    const condition = fragment.typeCondition?.name.value;
    return collect(
      condition === undefined ? type : schema.getType(condition),
      fragment.selectionSet,
    );
  }

  function mark(
    field: GraphQLField<unknown, unknown> | undefined,
    selectionSet: SelectionSetNode | undefined,
  ): boolean {
    const sharing = field ? sharingOf(field) : null;
    if (!field || sharing === null) return false;
    marks.add(sharing);
    return !selectionSet || collect(getNamedType(field.type), selectionSet);
  }

  /** An interface's field is resolved by the object's type, so the marks of each of them count. */
  function fieldsOf(type: GraphQLNamedType, name: string) {
    if (isAbstractType(type)) {
      return schema.getPossibleTypes(type).map((each) => schema.getField(each, name));
    }
    return [isObjectType(type) ? schema.getField(type, name) : undefined];
  }

  const root = schema.getRootType(operation) ?? undefined;
  return collect(root, selectionSet) ? marks : null;
}

/**
 * True where variables affect what an event contains. The arguments of the subscription itself do
 * not: they select its events.
 */
function usesVariablesInEvents(
  document: DocumentNode,
  { selectionSet }: OperationDefinitionNode,
): boolean {
  const roots = selectionSet.selections.map((root) => ({ ...root, arguments: [] }));
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
  let uses = false;
  const found = () => {
    uses = true;
  };
  for (const part of [...roots, ...fragments]) visit(part, { [Kind.VARIABLE]: found });
  return uses;
}
