import {
  type FieldNode,
  type GraphQLAbstractType,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isCompositeType,
  isListType,
  isObjectType,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import { type Sharing, sharingOf, traitOf } from '../../lib/field-traits.ts';
import { memo } from '../../lib/memo.ts';
import { type Amount, type CostInputs, extreme, product, sum, whereAny } from './amount.ts';
import { DocumentValues } from './document-values.ts';
import { type ListSizes, pageSize, requestedSize } from './list-sizes.ts';
import { extraForList } from './meter.ts';
import { MAX_FOLLOWED, type SelectedField, type Selecting, type Selections } from './selections.ts';

// A label of a metric each.

export interface OperationFacts {
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
  /** The marks of all fields, but of `__typename`, which comes from the schema; null where a field has none. */
  readonly marks: ReadonlySet<Sharing> | null;
}

/**
 * The reads that the fields state, each with how many fields state it for the values of a request. It has no read below
 * a list, because nobody knows whether that has an entry to read for.
 */
export type ReadPlan = ReadonlyMap<string, Amount>;

/**
 * All that is learnt of an operation in one walk over the fields that it may select, above all how many its answer can
 * contain. The document is analysed when it is prepared, so that a request adds only the arithmetic on its variables. It
 * has passed validation and the structural limits, so its fragments can be unfolded.
 */
export function factsOf(
  selections: Selections,
  operation: OperationDefinitionNode,
  sizes: ListSizes,
): OperationFacts {
  const { schema } = selections;
  const plans = new Map<string, Map<string, Amount>>();
  const root = schema.getRootType(operation.operation) as GraphQLObjectType;
  const values = new DocumentValues(operation);
  const marks = new Set<Sharing>();
  /** The amounts that depend on no variable: each of several types may lead to the same. */
  const abstractAmounts = new Map<string, number>();
  let isUnmarked = false;
  let isAlwaysTraced = false;

  const ofRoot = (key: string, same: readonly SelectedField[]): Amount => {
    const [first] = same;
    const field = first && schema.getField(root, first.node.name.value);
    const isApart =
      operation.operation === OperationTypeNode.MUTATION || (field && traitOf(field, 'readsApart'));
    return ofField(root, same, { page: null, plan: planOf(isApart ? key : '') });
  };

  function planOf(key: string): Map<string, Amount> {
    return memo(plans, key, () => new Map<string, Amount>());
  }

  function ageLimitsOf({ node, when }: SelectedField): readonly Amount[] {
    const args = schema.getField(root, node.name.value)?.args ?? [];
    const limits = args.filter((each) => traitOf(each, 'isAgeLimit'));
    return (node.arguments ?? [])
      .filter(({ name }) => limits.some((each) => each.name === name.value))
      .map(({ value }) => whereAny([when], limitIn(values.read(value)), Infinity));
  }

  function note(field: GraphQLField<unknown, unknown>) {
    isAlwaysTraced ||= traitOf(field, 'isAlwaysTraced') === true;
    if (field.name === '__typename') return;
    const sharing = sharingOf(field);
    if (sharing === null) isUnmarked = true;
    else marks.add(sharing);
  }

  function collect(type: GraphQLObjectType, from: readonly Selecting[]) {
    return selections.collect(type, from, (node) => values.read(node));
  }

  function ofComposite(
    type: GraphQLCompositeType,
    from: readonly Selecting[],
    place: Place,
  ): Amount {
    if (!isObjectType(type)) return ofAbstract(type, from, place);
    // The document is refused.
    if (selections.followed > MAX_FOLLOWED) return 0;
    const fields = [...collect(type, from).values()];
    return sum(fields.map((same) => ofField(type, same, place)));
  }

  /** An abstract type costs as much as the most expensive of its possible types. */
  function ofAbstract(
    type: GraphQLAbstractType,
    from: readonly Selecting[],
    { page, plan }: Place,
  ): Amount {
    const isFixed = typeof page !== 'function' && from.every(({ when }) => when === true);
    const starts = from.map(({ node }) => node.loc?.start);
    // Below a list it has no reads.
    const key = isFixed ? `${type.name} ${page} ${plan === null} ${starts}` : '';
    const known = abstractAmounts.get(key);
    if (known !== undefined) return known;
    const reads = new Map<string, Amount>();
    const place = { page, plan: plan && reads };
    const possible = schema.getPossibleTypes(type);
    const amount = extreme(Math.max, [
      0,
      ...possible.map((each) => ofComposite(each, from, place)),
    ]);
    for (const [read, count] of reads) plan?.set(read, sum([plan.get(read) ?? 0, count]));
    if (isFixed && typeof amount === 'number' && reads.size === 0) abstractAmounts.set(key, amount);
    return amount;
  }

  function ofField(
    type: GraphQLObjectType,
    same: readonly SelectedField[],
    { page, plan }: Place,
  ): Amount {
    const [first] = same;
    const field = first && schema.getField(type, first.node.name.value);
    if (!first || !field) return 0;
    note(field);
    const conditions = same.map(({ when }) => when);
    const scans = scansOf(field, first.node);
    const read = traitOf(field, 'reads');
    if (read && plan) plan.set(read, sum([plan.get(read) ?? 0, whereAny(conditions, 1)]));
    const inner = getNamedType(field.type);
    if (!isCompositeType(inner)) return whereAny(conditions, 1);
    const isOfMany = isListType(getNullableType(field.type));
    const size = isOfMany
      ? (requestedSize(field, first.node, values) ?? sizes(type.name, field, page))
      : 1;
    const each = ofComposite(inner, same, {
      page: pageSize(field, first.node, values),
      plan: isOfMany ? null : plan,
    });
    return whereAny(conditions, sum([1, product(size, each), ...scans]));
  }

  function scansOf({ args }: GraphQLField<unknown, unknown>, { arguments: given = [] }: FieldNode) {
    return args.flatMap((each) => {
      const scanned = traitOf(each, 'scans');
      const value = given.find(({ name }) => name.value === each.name)?.value;
      if (scanned === undefined || value === undefined) return [];
      const amount: Amount = ({ sizeOf }) => extraForList(sizeOf(scanned));
      const isGiven = values.readGiven(value);
      const when =
        typeof isGiven === 'boolean' ? isGiven : (inputs: CostInputs) => isGiven(inputs) ?? false;
      return [whereAny([when], amount)];
    });
  }

  const fields = [...collect(root, [{ node: operation, when: true }])];
  const cost = sum(fields.map(([key, same]) => ofRoot(key, same)));
  return {
    cost,
    plans,
    isAlwaysTraced,
    ageLimit: extreme(
      Math.min,
      fields.flatMap(([, same]) => same.flatMap(ageLimitsOf)),
    ),
    marks: isUnmarked ? null : marks,
  };
}

interface Place {
  /** The page size in a connection. */
  readonly page: Amount | null;
  /** The plan that has the reads of this place; null where none has. */
  readonly plan: Map<string, Amount> | null;
}

function limitIn(value: ReturnType<DocumentValues['read']>): Amount {
  return typeof value === 'function' ? (inputs) => limit(value(inputs)) : limit(value);
}

/** A negative limit is refused by its own field alone. */
function limit(value: unknown): number {
  return typeof value === 'number' && value >= 0 ? value : Infinity;
}
