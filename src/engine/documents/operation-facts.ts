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
import { extraForList } from '../operation/meter.ts';
import { type Amount, type CostInputs, derived, product, sum, whereAny } from './amount.ts';
import { type ReadValue, valueReader } from './document-values.ts';
import { listSize, pageSize } from './list-sizes.ts';
import { MAX_FOLLOWED, type SelectedField, type Selecting, type Selections } from './selections.ts';

export interface OperationFacts {
  /** The number of fields that the answer can contain. */
  readonly cost: Amount;
  /** The plan of the operation, under '', and the plans of root fields that read apart, under their response keys. */
  readonly plans: ReadonlyMap<string, ReadPlan>;
  /**
   * The lowest age limit that root fields request, in seconds; Infinity if there is none. It is determined before
   * execution: an answer made in slices resolves some fields after the read that they share has been answered.
   */
  readonly ageLimit: Amount;
  /** The marks of all fields except `__typename`, which the schema answers; null if a field has no mark. */
  readonly marks: ReadonlySet<Sharing> | null;
}

/**
 * The number of fields that state each read, for the values of a request. Reads below a list are not planned, because the
 * list may be empty.
 */
type ReadPlan = ReadonlyMap<string, Amount>;

interface Place {
  /** The page size of the enclosing connection. */
  readonly page: Amount | null;
  /** The plan that collects the reads of this place; null if they are not planned. */
  readonly plan: Map<string, Amount> | null;
}

/**
 * Collects the facts about an operation in one walk over the fields that it may select, when its document is prepared. A
 * request adds only the arithmetic on its variables. The document has passed validation and the limits.
 */
export function factsOf(
  selections: Selections,
  operation: OperationDefinitionNode,
): OperationFacts {
  return new FieldWalk(selections, operation).facts();
}

class FieldWalk {
  readonly #selections: Selections;
  readonly #operation: OperationDefinitionNode;
  readonly #root: GraphQLObjectType;
  readonly #read: ReadValue;
  readonly #plans = new Map<string, Map<string, Amount>>();
  readonly #marks = new Set<Sharing>();
  /** The amounts that depend on no variable. Several types can lead to the same selections. */
  readonly #abstractAmounts = new Map<string, number>();
  #isUnmarked = false;

  constructor(selections: Selections, operation: OperationDefinitionNode) {
    this.#selections = selections;
    this.#operation = operation;
    this.#root = selections.schema.getRootType(operation.operation) as GraphQLObjectType;
    this.#read = valueReader(operation);
  }

  facts(): OperationFacts {
    const fields = [...this.#collect(this.#root, [{ node: this.#operation, when: true }])];
    const cost = sum(fields.map(([key, same]) => this.#rootField(key, same)));
    const ageLimits = fields.flatMap(([, same]) => same.flatMap((one) => this.#ageLimits(one)));
    return {
      cost,
      plans: this.#plans,
      ageLimit: derived(ageLimits, Math.min),
      marks: this.#isUnmarked ? null : this.#marks,
    };
  }

  #collect(type: GraphQLObjectType, from: readonly Selecting[]) {
    return this.#selections.collect(type, from, this.#read);
  }

  #rootField(key: string, same: readonly SelectedField[]): Amount {
    const field = this.#fieldOf(this.#root, same);
    const isMutation = this.#operation.operation === OperationTypeNode.MUTATION;
    const isApart = isMutation || (field && traitOf(field, 'readsApart'));
    const plan = memo(this.#plans, isApart ? key : '', () => new Map<string, Amount>());
    return this.#field(this.#root, same, { page: null, plan });
  }

  #ageLimits({ node, when }: SelectedField): readonly Amount[] {
    const args = this.#selections.schema.getField(this.#root, node.name.value)?.args ?? [];
    const limits = args.filter((each) => traitOf(each, 'isAgeLimit'));
    return (node.arguments ?? [])
      .filter(({ name }) => limits.some((each) => each.name === name.value))
      .map(({ value }) => whereAny([when], derived([this.#read(value)], ageLimit), Infinity));
  }

  #composite(type: GraphQLCompositeType, from: readonly Selecting[], place: Place): Amount {
    if (!isObjectType(type)) return this.#abstract(type, from, place);
    // The document will be refused.
    if (this.#selections.followed > MAX_FOLLOWED) return 0;
    const fields = [...this.#collect(type, from).values()];
    return sum(fields.map((same) => this.#field(type, same, place)));
  }

  /** An abstract type costs as much as the most expensive of its possible types. */
  #abstract(type: GraphQLAbstractType, from: readonly Selecting[], { page, plan }: Place): Amount {
    const isFixed = typeof page !== 'function' && from.every(({ when }) => when === true);
    const starts = from.map(({ node }) => node.loc?.start);
    // Below a list no reads are planned.
    const key = isFixed ? `${type.name} ${page} ${plan === null} ${starts}` : '';
    const known = this.#abstractAmounts.get(key);
    if (known !== undefined) return known;
    const reads = new Map<string, Amount>();
    const place = { page, plan: plan && reads };
    const possible = this.#selections.schema.getPossibleTypes(type);
    const amounts = possible.map((each) => this.#composite(each, from, place));
    const amount = derived([0, ...amounts], Math.max);
    for (const [read, fields] of reads) addRead(plan, read, fields);
    if (isFixed && typeof amount === 'number' && reads.size === 0) {
      this.#abstractAmounts.set(key, amount);
    }
    return amount;
  }

  #field(type: GraphQLObjectType, same: readonly SelectedField[], { page, plan }: Place): Amount {
    const [first] = same;
    const field = this.#fieldOf(type, same);
    if (!first || !field) return 0;
    this.#note(field);
    const conditions = same.map(({ when }) => when);
    const read = traitOf(field, 'reads');
    if (read) addRead(plan, read, whereAny(conditions, 1));
    const inner = getNamedType(field.type);
    if (!isCompositeType(inner)) return whereAny(conditions, 1);
    const isList = isListType(getNullableType(field.type));
    const { schema } = this.#selections;
    const size = isList ? listSize(schema, type.name, field, first.node, page, this.#read) : 1;
    const each = this.#composite(inner, same, {
      page: pageSize(field, first.node, this.#read),
      plan: isList ? null : plan,
    });
    const scans = this.#scans(field, first.node);
    return whereAny(conditions, sum([1, product(size, each), ...scans]));
  }

  #fieldOf(type: GraphQLObjectType, [first]: readonly SelectedField[]) {
    return first && this.#selections.schema.getField(type, first.node.name.value);
  }

  #note(field: GraphQLField<unknown, unknown>): void {
    if (field.name === '__typename') return;
    const sharing = sharingOf(field);
    if (sharing === null) this.#isUnmarked = true;
    else this.#marks.add(sharing);
  }

  #scans({ args }: GraphQLField<unknown, unknown>, { arguments: given = [] }: FieldNode) {
    return args.flatMap((each): Amount[] => {
      const scanned = traitOf(each, 'scans');
      const node = given.find(({ name }) => name.value === each.name)?.value;
      if (scanned === undefined || node === undefined) return [];
      const value = this.#read(node);
      const isGiven =
        typeof value === 'function' ? (inputs: CostInputs) => value(inputs) != null : value != null;
      return [whereAny([isGiven], ({ sizeOf }) => extraForList(sizeOf(scanned)))];
    });
  }
}

function addRead(plan: Map<string, Amount> | null, read: string, fields: Amount): void {
  plan?.set(read, sum([plan.get(read) ?? 0, fields]));
}

/** A negative limit has no effect here: its own field refuses it. */
function ageLimit(value: unknown): number {
  return typeof value === 'number' && value >= 0 ? value : Infinity;
}
