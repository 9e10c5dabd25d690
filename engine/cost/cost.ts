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
  OperationTypeNode,
} from 'graphql';
import { DocumentValues } from '../documents/document-values.ts';
import type { SelectedField, Selecting, Selections } from '../documents/selections.ts';
import { hasTrait, readOf } from '../field-traits.ts';
import { type Amount, largest, lowest, product, provided, sum, whereAny } from './amount.ts';
import { type ListSizes, pageSize, requestedSize } from './list-sizes.ts';

export interface OperationCost {
  /** The fields that the answer can contain. */
  readonly cost: Amount;
  /** The plan of the operation, under '', and those of the fields of its root that read apart, by their response keys. */
  readonly plans: ReadonlyMap<string, ReadPlan>;
  /** Whether it may select a field that is always traced. */
  readonly isAlwaysTraced: boolean;
  /**
   * The lowest age limit that the root's fields ask for, in seconds; Infinity where none does. It is determined before
   * execution: an executor that works in slices resolves some fields when the read that they share has long been answered.
   */
  readonly ageLimit: Amount;
}

/**
 * The reads that the fields state, each with how many fields state it for the values of a request. It has no read below
 * a list, because nobody knows whether that has an entry to read for.
 */
export type ReadPlan = ReadonlyMap<string, Amount>;

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
  if (!root) return { cost: 0, plans: new Map(), isAlwaysTraced: false, ageLimit: Infinity };
  const compiler = new CostCompiler(selections, operation, sizes);
  const from = [{ node: operation, when: true }];
  const cost = compiler.ofRoot(root, from);
  return {
    cost,
    plans: compiler.plans,
    isAlwaysTraced: compiler.isAlwaysTraced,
    ageLimit: compiler.ageLimitOf(root, from),
  };
}

class CostCompiler {
  readonly #selections: Selections;
  readonly #sizes: ListSizes;
  readonly #values: DocumentValues;
  readonly #isMutation: boolean;
  readonly plans = new Map<string, Map<string, Amount>>();
  isAlwaysTraced = false;

  constructor(selections: Selections, operation: OperationDefinitionNode, sizes: ListSizes) {
    this.#selections = selections;
    this.#sizes = sizes;
    this.#values = new DocumentValues(operation);
    this.#isMutation = operation.operation === OperationTypeNode.MUTATION;
  }

  ofRoot(root: GraphQLObjectType, from: readonly Selecting[]): Amount {
    const fields = [...this.#collect(root, from)].map(([key, same]) => {
      const [first] = same;
      const field = first && this.#selections.schema.getField(root, first.node.name.value);
      const isApart = this.#isMutation || (field && hasTrait(field, 'readsApart'));
      return this.#ofField(root, same, { page: null, plan: this.#planOf(isApart ? key : '') });
    });
    return sum(fields);
  }

  #planOf(key: string): Map<string, Amount> {
    const plan = this.plans.get(key) ?? new Map<string, Amount>();
    this.plans.set(key, plan);
    return plan;
  }

  #of(type: GraphQLCompositeType, from: readonly Selecting[], place: Place): Amount {
    if (isObjectType(type)) return this.#ofObject(type, from, place);
    // An abstract type costs as much as the most expensive of its possible types.
    const types = this.#selections.schema.getPossibleTypes(type);
    return largest(types.map((possible) => this.#ofObject(possible, from, place)));
  }

  ageLimitOf(root: GraphQLObjectType, from: readonly Selecting[]): Amount {
    const limits = [...this.#collect(root, from).values()].flat().flatMap(({ node, when }) => {
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
    return this.#selections.collect(type, from, (node) => this.#values.read(node));
  }

  #ofObject(type: GraphQLObjectType, from: readonly Selecting[], place: Place): Amount {
    const fields = [...this.#collect(type, from).values()];
    return sum(fields.map((same) => this.#ofField(type, same, place)));
  }

  #ofField(type: GraphQLObjectType, same: readonly SelectedField[], { page, plan }: Place): Amount {
    const [first] = same;
    const field = first && this.#selections.schema.getField(type, first.node.name.value);
    if (!first || !field) return 0;
    this.isAlwaysTraced ||= hasTrait(field, 'isAlwaysTraced');
    const conditions = same.map(({ when }) => when);
    const read = readOf(field);
    if (read && plan) plan.set(read, sum([plan.get(read) ?? 0, whereAny(conditions, 1)]));
    const inner = getNamedType(field.type);
    if (!isCompositeType(inner)) return whereAny(conditions, 1);
    const values = this.#values;
    const isOfMany = isList(field.type);
    const size = isOfMany
      ? (requestedSize(field, first.node, values) ?? this.#sizes.of(type.name, field, page))
      : 1;
    const each = this.#of(inner, same, {
      page: pageSize(field, first.node, values),
      plan: isOfMany ? null : plan,
    });
    return whereAny(conditions, sum([1, product(size, each)]));
  }
}

interface Place {
  /** The page size in a connection. */
  readonly page: Amount | null;
  /** The plan that has the reads of this place; null where none has. */
  readonly plan: Map<string, Amount> | null;
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
