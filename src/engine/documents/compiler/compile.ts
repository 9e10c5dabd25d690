import {
  type ArgumentNode,
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getArgumentValues,
  getNamedType,
  getNullableType,
  isCompositeType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type VariableValues,
} from 'graphql';
import { blankWith, copyOf } from '../../../lib/blank-object.ts';
import { abandon, isPromiseLike } from '../../../lib/maybe-promise.ts';
import { type Field, listKey, literalOf, type Selections } from '../../core/selections.ts';
import {
  type Complete,
  completeLeaf,
  isPlainLeaf,
  type NullableFields,
  notWhole,
  type Run,
  type Target,
} from './run.ts';

/** The values of the variables in `@include` and `@skip`. */
export type Flags = ReadonlyMap<string, boolean>;

/** The selected fields that have the same response key: they are one field of the answer. */
type Nodes = readonly FieldNode[];
type Values = Readonly<Record<string, unknown>>;
type ArgumentsOf = (variables: VariableValues) => readonly Values[];
type Resolve = (source: unknown, args: unknown, context: unknown) => unknown;

interface Selection {
  readonly fields: readonly SelectedField[];
  /** An object with these fields, all null. */
  readonly blank: Target;
}

/** One loop sets all fields of an object: a function for each field would cost as much as the field. */
interface SelectedField {
  readonly key: string;
  /** The property of the source, where there is no resolver. */
  readonly name: string;
  readonly resolve: Resolve | null;
  /** The index of the resolver's arguments. */
  readonly args: number;
  /** The type of the values that are not null. */
  readonly type: GraphQLOutputType;
  readonly complete: Complete;
}

/** The compiled form of one operation for one combination of flags. */
export interface CompiledOperation {
  readonly root: (run: Run, source: unknown) => Target;
  readonly nullable: NullableFields;
  /** The number of fields. It estimates the time to compile and the memory. */
  readonly size: number;
  /** Returns the arguments of each resolver, by its index. Throws if they cannot be coerced. */
  readonly argsFor: ArgumentsOf;
}

// A screen of many sections has some 300 fields.
const MAX_FIELDS = 1_000;

const NO_VARIABLES: VariableValues = { sources: Object.create(null), coerced: Object.create(null) };

/** Thrown where an operation selects what only the reference executor executes. */
class NotCompilableError extends Error {}

/**
 * Compiles an operation to one function per selected field. Returns null for mutations, which are serial, and for
 * introspection, unions and interfaces, which few documents select. The reference executor runs these.
 */
export function compile(
  selections: Selections,
  operation: OperationDefinitionNode,
  flags: Flags,
): CompiledOperation | null {
  const type = selections.schema.getRootType(operation.operation);
  if (!type || operation.operation === 'mutation') return null;
  const compiler = new Compiler(selections, flags);
  try {
    const selection = compiler.selectionOf(type, [operation], true);
    const { args, nullable, size } = compiler;
    return {
      root: (run, source) => objectOf(selection, run, source as Target),
      nullable,
      size,
      argsFor: args.reader(),
    };
  } catch (error) {
    if (error instanceof NotCompilableError) return null;
    throw error;
  }
}

class Compiler {
  readonly args = new Arguments();
  readonly nullable = new Map<string, Nodes>();
  size = 0;
  readonly #selections: Selections;
  readonly #flags: Flags;

  constructor(selections: Selections, flags: Flags) {
    this.#selections = selections;
    this.#flags = flags;
  }

  selectionOf(
    type: GraphQLObjectType,
    from: Nodes | [OperationDefinitionNode],
    isRoot = false,
  ): Selection {
    if (type.isTypeOf) throw new NotCompilableError('isTypeOf');
    const collected = this.#selections.collect([type], from, (node) =>
      node.kind === Kind.VARIABLE ? this.#flags.get(node.name.value) : literalOf(node),
    );
    const fields = [...collected].map(([key, nodes]) => this.#field(type, key, nodes, isRoot));
    return { fields, blank: blankWith(collected.keys()) };
  }

  #field(parent: GraphQLObjectType, key: string, nodes: Nodes, isRoot: boolean): SelectedField {
    this.size += 1;
    if (this.size > MAX_FIELDS) throw new NotCompilableError('too large');
    const [node] = nodes as [FieldNode];
    const field = this.#selections.schema.getField(parent, node.name.value);
    // Assigning to `__proto__` would set the object's prototype.
    if (!field || key === '__proto__') throw new NotCompilableError('unknown');
    const { name } = field;
    const complete = this.#value(field.type, nodes);
    const selected = {
      key,
      name,
      resolve: null,
      args: 0,
      type: getNullableType(field.type),
      complete,
    };
    // Any object of this type has this `__typename`.
    if (name === '__typename') return { ...selected, resolve: () => parent.name };
    if (name.startsWith('__')) throw new NotCompilableError('introspection');
    if (isRoot && !isNonNullType(field.type)) this.nullable.set(key, nodes);
    if (field.resolve) {
      return { ...selected, resolve: resolveOf(field.resolve), args: this.args.add(field, node) };
    }
    if (isRoot || field.args.length > 0) throw new NotCompilableError('no resolver');
    return selected;
  }

  /** `isItem`: whether the value is an item of a list. */
  #value(type: GraphQLOutputType, nodes: Nodes, isItem = false): Complete {
    const complete = this.#nonNullValue(getNullableType(type), nodes, isItem);
    if (isNonNullType(type)) return complete;
    return (run, value) => (value == null ? null : complete(run, value));
  }

  #nonNullValue(type: GraphQLOutputType, nodes: Nodes, isItem: boolean): Complete {
    if (isLeafType(type)) return (run, value) => completeLeaf(type, run, value);
    if (isObjectType(type)) return objectFrom(this.selectionOf(type, nodes));
    if (!isListType(type)) throw new NotCompilableError('its type depends on the value');
    // The items of a list of lists are charged with it.
    const isCharged = !isItem && isCompositeType(getNamedType(type));
    return listFrom(this.#value(type.ofType, nodes, true), isCharged ? listKey(nodes) : null);
  }
}

/** The arguments of the resolvers that an operation calls. Those without variables are read once. */
class Arguments {
  readonly #all: (Values | ((variables: VariableValues) => Values))[] = [];

  /** Returns the index of the field's arguments. */
  add(field: Field, node: FieldNode): number {
    const read = (variables: VariableValues) => getArgumentValues(field, node, variables);
    try {
      const values = node.arguments?.some(mayHoldVariable) ? read : read(NO_VARIABLES);
      return this.#all.push(values) - 1;
    } catch (error) {
      throw new NotCompilableError('arguments that cannot be read', { cause: error });
    }
  }

  reader(): ArgumentsOf {
    const all = this.#all;
    const constant = all.filter((each) => typeof each !== 'function');
    if (constant.length === all.length) return () => constant;
    return (variables) => all.map((each) => (typeof each === 'function' ? each(variables) : each));
  }
}

/** Whether an argument may depend on a variable. True for any list or object, because searching it at each use is slow. */
function mayHoldVariable({ value: { kind } }: ArgumentNode): boolean {
  return kind === Kind.VARIABLE || kind === Kind.LIST || kind === Kind.OBJECT;
}

function objectOf({ fields, blank }: Selection, run: Run, source: Target): Target {
  const target = copyOf(blank);
  for (const { key, name, resolve, args, type, complete } of fields) {
    const value = resolve === null ? source[name] : resolve(source, run.args[args], run.context);
    if (isPlainLeaf(type, value)) target[key] = value;
    else if (resolve !== null && isPromiseLike(value)) run.wait(value, complete, target, key);
    else target[key] = complete(run, value);
  }
  return target;
}

/** The fourth parameter of a resolver is GraphQLResolveInfo, which compiled operations do not provide. */
function resolveOf(resolve: NonNullable<Field['resolve']>): Resolve {
  if (resolve.length > 3) throw new NotCompilableError('a resolver that looks at the document');
  return resolve as Resolve;
}

function objectFrom(selection: Selection): Complete {
  return (run, source) => {
    if (typeof source !== 'object' || source instanceof Error || isPromiseLike(source)) {
      throw notWhole(source);
    }
    return objectOf(selection, run, source as Target);
  };
}

/** `key`: the list's key, by which it is charged; null if its items are charged with another list, or are leaves. */
function listFrom(complete: Complete, key: number | null): Complete {
  return (run, values) => {
    if (!Array.isArray(values)) throw notWhole(values);
    try {
      if (key !== null) run.meter.chargeItems(key, values);
      return values.map((value) => complete(run, value));
    } catch (error) {
      abandon(values);
      throw error;
    }
  };
}
