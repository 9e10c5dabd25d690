import {
  type GraphQLCompositeType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  isCompositeType,
  isListType,
  isNonNullType,
  isObjectType,
  type OperationDefinitionNode,
} from 'graphql';
import { DocumentValues } from '../documents/document-values.ts';
import type { SelectedField, Selecting, Selections } from '../documents/selections.ts';
import { hasTrait } from '../field-traits.ts';
import { type Amount, largest, lowest, product, provided, sum, whereAny } from './amount.ts';
import { type ListSizes, pageSize, requestedSize } from './list-sizes.ts';

export interface OperationCost {
  /** The fields that the answer can contain. */
  readonly cost: Amount;
  /**
   * Whether a selected field needs the whole of a read of which only a part is cached. The read begins before that
   * field is resolved, so it is determined ahead, whatever variables include or skip.
   */
  readonly needsWholeRead: boolean;
  /** Whether it may select a field that is always traced. */
  readonly isAlwaysTraced: boolean;
  /**
   * The lowest age limit that the root's fields ask for, in seconds; Infinity where none does. It is determined before
   * execution: an executor that works in slices resolves some fields when the read that they share has long been answered.
   */
  readonly ageLimit: Amount;
}

/**
 * Computes how many fields the answer to an operation can contain. The document is analysed when it
 * is prepared, so that a request adds only the arithmetic on its variables. It has passed
 * validation and the structural limits, so its fragments can be unfolded.
 */
export function costOf(
  selections: Selections,
  operation: OperationDefinitionNode,
  sizes: ListSizes,
): OperationCost {
  const root = selections.schema.getRootType(operation.operation);
  if (!root) return { cost: 0, needsWholeRead: false, isAlwaysTraced: false, ageLimit: Infinity };
  const compiler = new CostCompiler(selections, operation, sizes);
  const from = [{ node: operation, when: true }];
  const cost = compiler.of(root, from);
  return {
    cost,
    needsWholeRead: compiler.needsWholeRead,
    isAlwaysTraced: compiler.isAlwaysTraced,
    ageLimit: compiler.ageLimitOf(root, from),
  };
}

class CostCompiler {
  readonly #selections: Selections;
  readonly #sizes: ListSizes;
  readonly #values: DocumentValues;
  needsWholeRead = false;
  isAlwaysTraced = false;

  constructor(selections: Selections, operation: OperationDefinitionNode, sizes: ListSizes) {
    this.#selections = selections;
    this.#sizes = sizes;
    this.#values = new DocumentValues(operation);
  }

  /** `page` is the page size when `type` is a connection. */
  of(type: GraphQLCompositeType, from: readonly Selecting[], page: Amount | null = null): Amount {
    if (isObjectType(type)) return this.#ofObject(type, from, page);
    // An abstract type costs as much as the most expensive of its possible types.
    const types = this.#selections.schema.getPossibleTypes(type);
    return largest(types.map((possible) => this.#ofObject(possible, from, page)));
  }

  ageLimitOf(root: GraphQLObjectType, from: readonly Selecting[]): Amount {
    const limits = this.#collect(root, from)
      .flat()
      .flatMap(({ node, when }) => {
        const field = this.#selections.schema.getField(root, node.name.value);
        const names = new Set(
          field?.args.filter((each) => hasTrait(each, 'isAgeLimit')).map(({ name }) => name),
        );
        return (node.arguments ?? [])
          .filter(({ name }) => names.has(name.value))
          .map(({ value }) => provided(when, limitIn(this.#values.read(value)), Infinity));
      });
    return lowest(limits);
  }

  #collect(type: GraphQLObjectType, from: readonly Selecting[]) {
    return [...this.#selections.collect(type, from, (node) => this.#values.read(node)).values()];
  }

  #ofObject(type: GraphQLObjectType, from: readonly Selecting[], page: Amount | null): Amount {
    return sum(this.#collect(type, from).map((same) => this.#ofField(type, same, page)));
  }

  #ofField(type: GraphQLObjectType, same: readonly SelectedField[], page: Amount | null): Amount {
    const [first] = same;
    const field = first && this.#selections.schema.getField(type, first.node.name.value);
    if (!first || !field) return 0;
    this.needsWholeRead ||= hasTrait(field, 'needsWholeRead');
    this.isAlwaysTraced ||= hasTrait(field, 'isAlwaysTraced');
    const conditions = same.map(({ when }) => when);
    const inner = getNamedType(field.type);
    if (!isCompositeType(inner)) return whereAny(conditions, 1);
    const values = this.#values;
    const size = isList(field.type)
      ? (requestedSize(field, first.node, values) ?? this.#sizes.of(type.name, field, page))
      : 1;
    const each = this.of(inner, same, pageSize(field, first.node, values));
    return whereAny(conditions, sum([1, product(size, each)]));
  }
}

function isList(type: GraphQLOutputType): boolean {
  return isListType(isNonNullType(type) ? type.ofType : type);
}

function limitIn(value: ReturnType<DocumentValues['read']>): Amount {
  return typeof value === 'function' ? (inputs) => limit(value(inputs)) : limit(value);
}

/** A negative limit is refused by its own field alone. */
function limit(value: unknown): number {
  return typeof value === 'number' && value >= 0 ? value : Infinity;
}
