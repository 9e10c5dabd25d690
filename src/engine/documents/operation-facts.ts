import {
  type DirectiveNode,
  type FieldNode,
  type GraphQLNamedType,
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
import { extraForList, type Weights, weightOfKey } from '../core/meter.ts';
import { type Field, listKey, literalOf, type Selections } from '../core/selections.ts';
import { listSize, pageSize, type RequestValues, type SizeOf } from './list-sizes.ts';

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
   * The lowest age limit that fields request, in seconds; Infinity if there is none. It is determined before execution,
   * because the first field that reads decides for the others.
   */
  readonly ageLimit: number;
}

// Clients use few different page sizes and flags. The memory of these facts is not counted in the cache of documents.
const MAX_REMEMBERED = 4;

/** The facts about an operation. The document has passed validation and the limits. */
export class OperationFacts {
  /** The variables in `@skip` and `@include`. */
  readonly flagNames: readonly string[];
  /** The `@defer` in the items of lists, and all others. A fragment that is spread in both places is in both. */
  readonly defersInLists: ReadonlySet<DirectiveNode>;
  readonly otherDefers: ReadonlySet<DirectiveNode>;
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
    this.defersInLists = walk.defersInLists;
    this.otherDefers = walk.otherDefers;
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

/** The fields that are charged together: those of the answer, or those of one item of a list. */
interface Charge {
  fields: number;
}

interface Place {
  /** The estimated number of objects in this place. */
  readonly objects: number;
  readonly charge: Charge;
  /** The page size of the enclosing connection. */
  readonly page: number | null;
  /** The plan that collects the reads of this place; null in a list, which may be empty. */
  readonly plan: Set<string> | null;
}

/** Collects the facts about an operation in one walk over the fields that it selects. */
class FieldWalk {
  readonly flagNames = new Set<string>();
  /** The variables that sizes and age limits depend on. */
  readonly variableNames = new Set<string>();
  readonly sizeNames = new Set<string>();
  readonly defersInLists = new Set<DirectiveNode>();
  readonly otherDefers = new Set<DirectiveNode>();
  readonly #selections: Selections;
  readonly #operation: OperationDefinitionNode;
  readonly #variables: Variables;
  readonly #values: RequestValues;
  readonly #plans = new Map<string, Set<string>>();
  readonly #itemFields = new Map<number, number>();
  #cost = 0;
  #ageLimit = Infinity;

  constructor(
    selections: Selections,
    operation: OperationDefinitionNode,
    variables: Variables,
    sizeOf: SizeOf,
  ) {
    this.#selections = selections;
    this.#operation = operation;
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
    const { schema } = this.#selections;
    const root = [schema.getRootType(this.#operation.operation) as GraphQLObjectType];
    const charge: Charge = { fields: 0 };
    for (const [key, nodes] of this.#collect(root, [this.#operation], false)) {
      const plan = this.#planOf(key, this.#fieldsOf(root, nodes));
      this.#field(key, root, nodes, { objects: 1, charge, page: null, plan });
    }
    return {
      cost: this.#cost,
      ownFields: charge.fields,
      itemFields: this.#itemFields,
      plans: this.#plans,
      ageLimit: this.#ageLimit,
    };
  }

  #read(node: ValueNode, names: Set<string>): unknown {
    if (node.kind !== Kind.VARIABLE) return literalOf(node);
    names.add(node.name.value);
    return this.#variables[node.name.value];
  }

  #collect(
    types: Types,
    from: readonly (OperationDefinitionNode | FieldNode)[],
    isInList: boolean,
  ) {
    const read = (flag: ValueNode) => this.#read(flag, this.flagNames);
    const defers = isInList ? this.defersInLists : this.otherDefers;
    return this.#selections.collect(types, from, read, ({ directives = [] }) => {
      for (const each of directives) if (each.name.value === 'defer') defers.add(each);
    });
  }

  /** The plan of a root field. */
  #planOf(key: string, [field]: readonly Field[]): Set<string> {
    const isMutation = this.#operation.operation === OperationTypeNode.MUTATION;
    const hasOwnPlan = isMutation || (field && traitOf(field, 'readsApart'));
    return memo(this.#plans, hasOwnPlan ? key : '', () => new Set<string>());
  }

  /**
   * Adds a field and all fields in it. The types may define it differently: its size in the first type is the estimate. The
   * selections on an abstract type are walked once for all its possible types: a walk for each type would take exponential
   * time if abstract types nest. So the cost includes alternatives of which the answer can have only one.
   */
  #field(key: string, types: Types, nodes: readonly FieldNode[], place: Place): void {
    const { objects, charge, page, plan } = place;
    const fields = this.#fieldsOf(types, nodes);
    const [node] = nodes;
    const [field] = fields;
    if (!node || !field) return;
    const weight = weightOfKey(key);
    charge.fields += weight;
    this.#cost += weight * objects;
    this.#readArguments(field, node, objects);
    for (const each of fields) {
      const read = traitOf(each, 'reads');
      if (read) plan?.add(read);
    }
    const inner = this.#typesIn(fields);
    const ofField = pageSize(field, node, this.#values);
    if (!isListType(getNullableType(field.type))) {
      this.#fields(inner, nodes, { objects, charge, page: ofField, plan });
    } else if (inner.length > 0) {
      const size = listSize(field, node, page, this.#values);
      const item: Charge = { fields: 0 };
      this.#fields(inner, nodes, {
        objects: objects * size,
        charge: item,
        page: ofField,
        plan: null,
      });
      this.#noteItems(nodes, item);
    }
  }

  #fields(types: Types, from: readonly FieldNode[], place: Place): void {
    if (types.length === 0) return;
    const collected = this.#collect(types, from, place.plan === null);
    for (const [key, nodes] of collected) this.#field(key, types, nodes, place);
  }

  /** Two places of a fragment can merge the same list with different fields. The larger item counts. */
  #noteItems(nodes: readonly FieldNode[], { fields }: Charge): void {
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
    const types = fields.flatMap((field): readonly GraphQLNamedType[] => {
      const type = getNamedType(field.type);
      return isAbstractType(type) ? this.#selections.schema.getPossibleTypes(type) : [type];
    });
    return [...new Set(types)].filter(isObjectType);
  }

  /** Adds the entries that the resolvers scan because of an argument, and notes a limit of age. */
  #readArguments({ args }: Field, node: FieldNode, objects: number): void {
    for (const { name, value } of node.arguments ?? []) {
      const arg = args.find((each) => each.name === name.value);
      if (!arg) continue;
      const scanned = traitOf(arg, 'scans');
      if (scanned !== undefined) {
        const size = this.#values.sizeOf(scanned);
        if (this.#values.read(value) != null) this.#cost += extraForList(size) * objects;
      }
      if (traitOf(arg, 'isAgeLimit')) {
        const seconds = this.#values.read(value);
        // A negative limit has no effect here: the resolver of its field refuses it.
        const isLimit = typeof seconds === 'number' && seconds >= 0;
        if (isLimit) this.#ageLimit = Math.min(this.#ageLimit, seconds);
      }
    }
  }
}
