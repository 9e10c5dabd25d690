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
  const { schema } = selections;
  const plans = new Map<string, Map<string, Amount>>();
  const root = schema.getRootType(operation.operation);
  if (!root) return { cost: 0, plans, isAlwaysTraced: false, ageLimit: Infinity };
  const values = new DocumentValues(operation);
  let isAlwaysTraced = false;

  function ofRoot(root: GraphQLObjectType, from: readonly Selecting[]): Amount {
    const fields = [...collect(root, from)].map(([key, same]) => {
      const [first] = same;
      const field = first && schema.getField(root, first.node.name.value);
      const isApart =
        operation.operation === OperationTypeNode.MUTATION ||
        (field && hasTrait(field, 'readsApart'));
      return ofField(root, same, { page: null, plan: planOf(isApart ? key : '') });
    });
    return sum(fields);
  }

  function planOf(key: string): Map<string, Amount> {
    const plan = plans.get(key) ?? new Map<string, Amount>();
    plans.set(key, plan);
    return plan;
  }

  function ageLimitOf(root: GraphQLObjectType, from: readonly Selecting[]): Amount {
    const limits = [...collect(root, from).values()].flat().flatMap(({ node, when }) => {
      const field = schema.getField(root, node.name.value);
      const names = new Set(
        field?.args.filter((each) => hasTrait(each, 'isAgeLimit')).map(({ name }) => name),
      );
      return (node.arguments ?? [])
        .filter(({ name }) => names.has(name.value))
        .map(({ value }) => provided(when, limitIn(values.read(value)), Infinity));
    });
    return lowest(limits);
  }

  function collect(type: GraphQLObjectType, from: readonly Selecting[]) {
    return selections.collect(type, from, (node) => values.read(node));
  }

  function ofComposite(
    type: GraphQLCompositeType,
    from: readonly Selecting[],
    place: Place,
  ): Amount {
    if (!isObjectType(type)) {
      // An abstract type costs as much as the most expensive of its possible types.
      return largest(schema.getPossibleTypes(type).map((each) => ofComposite(each, from, place)));
    }
    const fields = [...collect(type, from).values()];
    return sum(fields.map((same) => ofField(type, same, place)));
  }

  function ofField(
    type: GraphQLObjectType,
    same: readonly SelectedField[],
    { page, plan }: Place,
  ): Amount {
    const [first] = same;
    const field = first && schema.getField(type, first.node.name.value);
    if (!first || !field) return 0;
    isAlwaysTraced ||= hasTrait(field, 'isAlwaysTraced');
    const conditions = same.map(({ when }) => when);
    const read = readOf(field);
    if (read && plan) plan.set(read, sum([plan.get(read) ?? 0, whereAny(conditions, 1)]));
    const inner = getNamedType(field.type);
    if (!isCompositeType(inner)) return whereAny(conditions, 1);
    const isOfMany = isList(field.type);
    const size = isOfMany
      ? (requestedSize(field, first.node, values) ?? sizes(type.name, field, page))
      : 1;
    const each = ofComposite(inner, same, {
      page: pageSize(field, first.node, values),
      plan: isOfMany ? null : plan,
    });
    return whereAny(conditions, sum([1, product(size, each)]));
  }

  const from = [{ node: operation, when: true }];
  const cost = ofRoot(root, from);
  return { cost, plans, isAlwaysTraced, ageLimit: ageLimitOf(root, from) };
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
