import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { DocumentValues } from '../documents/document-values.ts';
import { type Amount, both, type Condition, largest, product, sum, whereAny } from './amount.ts';
import { type ListSizes, pageSize } from './list-sizes.ts';
import type { Fragments } from './shape.ts';

/** A selection set that counts where its condition is true. */
interface Part {
  readonly selectionSet: SelectionSetNode;
  readonly when: Condition;
}

/** One of the selections in a document that merge into the same field of the answer. */
interface Selected {
  readonly node: FieldNode;
  readonly when: Condition;
}

/**
 * Computes how many fields the answer to an operation can contain. The document is analysed when it
 * is prepared, so that a request adds only the arithmetic on its variables. It has passed
 * validation and the structural limits, so its fragments can be unfolded.
 */
export function costOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  sizes: ListSizes,
): Amount {
  const root = schema.getRootType(operation.operation);
  if (!root) return 0;
  const cost = new CostCompiler(schema, document, operation, sizes);
  return cost.ofSelections(root, [{ selectionSet: operation.selectionSet, when: true }], null);
}

class CostCompiler {
  readonly #schema: GraphQLSchema;
  readonly #sizes: ListSizes;
  readonly #values: DocumentValues;
  readonly #fragments: Fragments;

  constructor(
    schema: GraphQLSchema,
    { definitions }: DocumentNode,
    operation: OperationDefinitionNode,
    sizes: ListSizes,
  ) {
    this.#schema = schema;
    this.#sizes = sizes;
    this.#values = new DocumentValues(operation);
    this.#fragments = new Map(
      definitions
        .filter((one): one is FragmentDefinitionNode => one.kind === Kind.FRAGMENT_DEFINITION)
        .map((fragment) => [fragment.name.value, fragment]),
    );
  }

  /** `page` is the page size when `type` is a connection. */
  ofSelections(type: GraphQLCompositeType, parts: readonly Part[], page: Amount | null): Amount {
    if (isObjectType(type)) return this.#ofObject(type, parts, page);
    // An abstract type costs as much as the most expensive of its possible types.
    const types = this.#schema.getPossibleTypes(type);
    return largest(types.map((possible) => this.#ofObject(possible, parts, page)));
  }

  #ofObject(type: GraphQLObjectType, parts: readonly Part[], page: Amount | null): Amount {
    const fields = new Map<string, Selected[]>();
    for (const { selectionSet, when } of parts) this.#collect(type, selectionSet, when, fields);
    return sum([...fields.values()].map((picks) => this.#ofField(type, picks, page)));
  }

  #ofField(type: GraphQLObjectType, picks: readonly Selected[], page: Amount | null): Amount {
    const [first] = picks;
    const field = first && this.#schema.getField(type, first.node.name.value);
    if (!first || !field) return 0;
    const conditions = picks.map(({ when }) => when);
    const inner = getNamedType(field.type);
    if (!isCompositeType(inner)) return whereAny(conditions, 1);
    const parts = picks.flatMap(({ node: { selectionSet }, when }) =>
      selectionSet ? [{ selectionSet, when }] : [],
    );
    const size = isList(field.type) ? this.#sizes.of(type.name, field, page) : 1;
    const each = this.ofSelections(inner, parts, pageSize(field, first.node, this.#values));
    return whereAny(conditions, sum([1, product(size, each)]));
  }

  /** Merges fields as the executor does: equal response keys at one place are one field. */
  #collect(
    type: GraphQLObjectType,
    { selections }: SelectionSetNode,
    when: Condition,
    fields: Map<string, Selected[]>,
  ): void {
    for (const selection of selections) {
      const here = both(when, this.#condition(selection.directives ?? []));
      if (here === false) continue;
      if (selection.kind === Kind.FIELD) {
        const key = (selection.alias ?? selection.name).value;
        const picks = fields.get(key);
        if (picks) picks.push({ node: selection, when: here });
        else fields.set(key, [{ node: selection, when: here }]);
        continue;
      }
      const fragment =
        selection.kind === Kind.INLINE_FRAGMENT
          ? selection
          : this.#fragments.get(selection.name.value);
      if (!fragment || !this.#applies(type, fragment.typeCondition?.name.value)) continue;
      this.#collect(type, fragment.selectionSet, here, fields);
    }
  }

  #applies(type: GraphQLObjectType, condition: string | undefined): boolean {
    if (condition === undefined || condition === type.name) return true;
    const wanted = this.#schema.getType(condition);
    return isAbstractType(wanted) && this.#schema.isSubType(wanted, type);
  }

  #condition(directives: readonly DirectiveNode[]): Condition {
    let condition: Condition = true;
    for (const { name, arguments: args } of directives) {
      if (name.value !== 'skip' && name.value !== 'include') continue;
      const flag = args?.find((argument) => argument.name.value === 'if');
      if (!flag) continue;
      const wanted = name.value === 'include';
      const value = this.#values.read(flag.value);
      condition = both(
        condition,
        typeof value === 'function' ? (inputs) => value(inputs) === wanted : value === wanted,
      );
    }
    return condition;
  }
}

function isList(type: GraphQLOutputType): boolean {
  return isListType(isNonNullType(type) ? type.ofType : type);
}
