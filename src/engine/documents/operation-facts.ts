import {
  type FieldNode,
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isAbstractType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type ValueNode,
} from 'graphql';
import { memo } from '../../lib/caches.ts';
import { traitOf } from '../../lib/field-traits.ts';
import { extraForList, type Weights, weightOfKey } from '../operation/meter.ts';
import { type Field, listKey, literalOf, type Selections } from './compiler/selections.ts';
import { givenValue, listSize, pageSize, type RequestValues, type SizeOf } from './list-sizes.ts';

/** The coerced variables of a request. */
type Variables = Readonly<Record<string, unknown>>;

/** The facts about an operation that depend on the variables, and on the sizes of lists. */
export interface RequestFacts extends Weights {
  /**
   * The names of the data that the fields read (their trait `reads`). Root fields with a plan of their own have an entry
   * under their response key; all others share the entry ''. Reads below a list are left out: the list may be empty.
   */
  readonly plans: ReadonlyMap<string, ReadonlySet<string>>;
  /**
   * The lowest age limit that root fields request, in seconds; Infinity if there is none. It is determined before
   * execution, because the first field that reads decides for the others.
   */
  readonly ageLimit: number;
}

// Clients use few different page sizes and flags. The memory of these facts is not counted in the cache of documents.
const MAX_REMEMBERED = 4;

/** The facts about an operation. The document has passed validation and the limits. */
export class OperationFacts {
  /** The variables in `@skip` and `@include`. */
  readonly flagNames: readonly string[];
  readonly #selections: Selections;
  readonly #operation: OperationDefinitionNode;
  /** The variables and the sizes that the facts depend on. */
  readonly #variableNames: readonly string[];
  readonly #sizeNames: readonly string[];
  readonly #remembered = new Map<string, RequestFacts>();

  constructor(selections: Selections, operation: OperationDefinitionNode) {
    this.#selections = selections;
    this.#operation = operation;
    // Unknown variables exclude no field, so this walk visits all fields.
    const walk = new FieldWalk(selections, operation, {}, () => 0);
    const facts = walk.facts();
    this.flagNames = [...walk.flagNames];
    this.#variableNames = [...walk.flagNames, ...walk.variableNames];
    this.#sizeNames = [...walk.sizeNames];
    const isConstant = this.#variableNames.length === 0 && walk.sizeNames.size === 0;
    if (isConstant) this.#remembered.set('', facts);
  }

  /** Returns the facts for one request. They are determined once for requests of the same shape. */
  for(variables: Variables, sizeOf: SizeOf): RequestFacts {
    let shape = '';
    for (const name of this.#variableNames) shape += `${shapeOf(variables[name])} `;
    for (const name of this.#sizeNames) shape += `${sizeOf(name)} `;
    const remembered = this.#remembered.get(shape);
    if (remembered !== undefined) return remembered;
    const facts = new FieldWalk(this.#selections, this.#operation, variables, sizeOf).facts();
    if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.clear();
    this.#remembered.set(shape, facts);
    return facts;
  }
}

/** The part of a variable's value that the facts depend on. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length;
  const affectsFacts = typeof value === 'number' || typeof value === 'boolean' || value == null;
  return affectsFacts ? value : 'given';
}

/** The types that an object can have. */
type Types = readonly GraphQLObjectType[];

/** The weight of a part of an operation, in fields. */
interface Weight {
  /** The weight of all fields, with the estimated sizes of lists. */
  readonly all: number;
  /** The weight of the fields that are in no list of this part. */
  readonly own: number;
}

interface Place {
  /** The page size of the enclosing connection. */
  readonly page: number | null;
  /** The plan that collects the reads of this place; null if they are not planned. */
  readonly plan: Set<string> | null;
}

/** Collects the facts about an operation in one walk over the fields that it selects. */
class FieldWalk {
  readonly flagNames = new Set<string>();
  /** The variables that sizes and age limits depend on. */
  readonly variableNames = new Set<string>();
  readonly sizeNames = new Set<string>();
  readonly #selections: Selections;
  readonly #operation: OperationDefinitionNode;
  readonly #root: GraphQLObjectType;
  readonly #variables: Variables;
  readonly #values: RequestValues;
  readonly #plans = new Map<string, Set<string>>();
  readonly #itemFields = new Map<number, number>();

  constructor(
    selections: Selections,
    operation: OperationDefinitionNode,
    variables: Variables,
    sizeOf: SizeOf,
  ) {
    this.#selections = selections;
    this.#operation = operation;
    this.#root = selections.schema.getRootType(operation.operation) as GraphQLObjectType;
    this.#variables = variables;
    this.#values = {
      read: (node) => this.#read(node, this.variableNames),
      sizeOf: (name) => {
        this.sizeNames.add(name);
        return sizeOf(name);
      },
    };
  }

  facts(): RequestFacts {
    let cost = 0;
    let ownFields = 0;
    let ageLimit = Infinity;
    for (const [key, nodes] of this.#collect([this.#root], [this.#operation])) {
      const weight = this.#rootField(key, nodes);
      cost += weight.all;
      ownFields += weight.own;
      ageLimit = Math.min(ageLimit, ...nodes.flatMap((node) => this.#ageLimits(node)));
    }
    return { cost, ownFields, itemFields: this.#itemFields, plans: this.#plans, ageLimit };
  }

  #read(node: ValueNode, names: Set<string>): unknown {
    if (node.kind !== Kind.VARIABLE) return literalOf(node);
    names.add(node.name.value);
    return this.#variables[node.name.value];
  }

  #collect(types: Types, from: readonly (OperationDefinitionNode | FieldNode)[]) {
    return this.#selections.collect(types, from, (flag) => this.#read(flag, this.flagNames));
  }

  #rootField(key: string, nodes: readonly FieldNode[]): Weight {
    const [field] = this.#fieldsOf([this.#root], nodes);
    const isMutation = this.#operation.operation === OperationTypeNode.MUTATION;
    const hasOwnPlan = isMutation || (field && traitOf(field, 'readsApart'));
    const plan = memo(this.#plans, hasOwnPlan ? key : '', () => new Set<string>());
    return this.#field(key, [this.#root], nodes, { page: null, plan });
  }

  #ageLimits(node: FieldNode): readonly number[] {
    const args = this.#selections.schema.getField(this.#root, node.name.value)?.args ?? [];
    return args
      .filter((each) => traitOf(each, 'isAgeLimit'))
      .map(({ name }) => givenValue(node, name, this.#values))
      .filter(isAgeLimit);
  }

  /**
   * The selections on an abstract type are walked once for all its possible types: a walk for each type would take
   * exponential time if abstract types nest. So the cost includes alternatives of which the answer can have only one.
   */
  #objects(types: Types, from: readonly FieldNode[], place: Place): Weight {
    let all = 0;
    let own = 0;
    for (const [key, nodes] of this.#collect(types, from)) {
      const weight = this.#field(key, types, nodes, place);
      all += weight.all;
      own += weight.own;
    }
    return { all, own };
  }

  /** Returns a field's weight. The types may define the field differently: its size in the first type is the estimate. */
  #field(key: string, types: Types, nodes: readonly FieldNode[], { page, plan }: Place): Weight {
    const fields = this.#fieldsOf(types, nodes);
    const [node] = nodes;
    const [field] = fields;
    const [type] = types;
    const weight = weightOfKey(key);
    if (!node || !field || !type) return { all: 0, own: 0 };
    for (const each of fields) {
      const read = traitOf(each, 'reads');
      if (read) plan?.add(read);
    }
    const inner = this.#typesIn(fields);
    if (inner.length === 0) return { all: weight, own: weight };
    const isList = isListType(getNullableType(field.type));
    const size = isList ? listSize(type.name, field, node, page, this.#values) : 1;
    const item = this.#objects(inner, nodes, {
      page: pageSize(field, node, this.#values),
      plan: isList ? null : plan,
    });
    if (isList) this.#noteItems(nodes, item.own);
    return {
      all: weight + size * item.all + this.#scanned(field, node),
      own: isList ? weight : weight + item.own,
    };
  }

  /** Two places of a fragment can merge the same list with different fields. The larger item counts. */
  #noteItems(nodes: readonly FieldNode[], fields: number): void {
    const key = listKey(nodes);
    this.#itemFields.set(key, Math.max(fields, this.#itemFields.get(key) ?? 0));
  }

  #fieldsOf(types: Types, nodes: readonly FieldNode[]): readonly Field[] {
    const fields: Field[] = [];
    for (const { name } of nodes) {
      for (const type of types) {
        const field = this.#selections.schema.getField(type, name.value);
        if (field && !fields.includes(field)) fields.push(field);
      }
    }
    return fields;
  }

  /** The types that the objects in these fields can have. */
  #typesIn(fields: readonly Field[]): Types {
    const types: GraphQLObjectType[] = [];
    for (const field of fields) {
      const type = getNamedType(field.type);
      const possible = isAbstractType(type)
        ? this.#selections.schema.getPossibleTypes(type)
        : [type];
      for (const each of possible) {
        if (isObjectType(each) && !types.includes(each)) types.push(each);
      }
    }
    return types;
  }

  /** The cost, in fields, of the entries that the resolver scans because of the field's arguments. */
  #scanned({ args }: Field, node: FieldNode): number {
    let fields = 0;
    for (const { name, value } of node.arguments ?? []) {
      const arg = args.find((each) => each.name === name.value);
      const scanned = arg && traitOf(arg, 'scans');
      if (scanned === undefined) continue;
      const size = this.#values.sizeOf(scanned);
      if (this.#values.read(value) != null) fields += extraForList(size);
    }
    return fields;
  }
}

/** A negative limit has no effect here: the resolver of its field refuses it. */
function isAgeLimit(value: unknown): value is number {
  return typeof value === 'number' && value >= 0;
}
