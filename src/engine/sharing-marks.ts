import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { type Sharing, sharingOf } from '../schema/sharing.ts';

/**
 * The marks of all fields that an operation selects, whatever its variables include or skip. Null
 * where a field has none, as the fields of introspection do.
 */
export function marksOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  { operation, selectionSet }: OperationDefinitionNode,
): ReadonlySet<Sharing> | null {
  const root = schema.getRootType(operation);
  if (!root) return null;
  const collector = new MarkCollector(schema, document);
  return collector.collect(root, selectionSet) ? collector.marks : null;
}

class MarkCollector {
  readonly marks = new Set<Sharing>();
  readonly #schema: GraphQLSchema;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** Fragments and abstract types reach the same selections by several paths. */
  readonly #visited = new Map<SelectionSetNode, Set<GraphQLNamedType>>();

  constructor(schema: GraphQLSchema, { definitions }: DocumentNode) {
    this.#schema = schema;
    this.#fragments = new Map(
      definitions
        .filter((one): one is FragmentDefinitionNode => one.kind === Kind.FRAGMENT_DEFINITION)
        .map((fragment) => [fragment.name.value, fragment]),
    );
  }

  /** Returns false where a field has no mark. */
  collect(type: GraphQLNamedType | undefined, selectionSet: SelectionSetNode): boolean {
    if (!type) return false;
    const types = this.#visited.get(selectionSet) ?? new Set();
    this.#visited.set(selectionSet, types);
    if (types.has(type)) return true;
    types.add(type);
    return selectionSet.selections.every((selection) => this.#select(type, selection));
  }

  #select(type: GraphQLNamedType, selection: SelectionNode): boolean {
    if (selection.kind === Kind.FIELD) {
      const { name, selectionSet } = selection;
      // `__typename` comes from the schema.
      if (name.value === '__typename') return true;
      return this.#fieldsOf(type, name.value).every((field) => this.#mark(field, selectionSet));
    }
    const fragment =
      selection.kind === Kind.FRAGMENT_SPREAD
        ? this.#fragments.get(selection.name.value)
        : selection;
    if (!fragment) return false;
    const condition = fragment.typeCondition?.name.value;
    const narrowed = condition === undefined ? type : this.#schema.getType(condition);
    return this.collect(narrowed, fragment.selectionSet);
  }

  #mark(
    field: GraphQLField<unknown, unknown> | undefined,
    selectionSet: SelectionSetNode | undefined,
  ): boolean {
    const sharing = field ? sharingOf(field) : null;
    if (!field || sharing === null) return false;
    this.marks.add(sharing);
    return !selectionSet || this.collect(getNamedType(field.type), selectionSet);
  }

  /** An interface's field is resolved by the object's type, so the marks of each of them count. */
  #fieldsOf(
    type: GraphQLNamedType,
    name: string,
  ): readonly (GraphQLField<unknown, unknown> | undefined)[] {
    if (isAbstractType(type)) {
      const possible = this.#schema.getPossibleTypes(type);
      return possible.map((each) => this.#schema.getField(each, name));
    }
    return [isObjectType(type) ? this.#schema.getField(type, name) : undefined];
  }
}
