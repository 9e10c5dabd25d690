import {
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  getNullableType,
  isCompositeType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import { Arguments, type ArgumentsOf, type Field } from './arguments.ts';
import { leafOf, notWhole } from './leaves.ts';
import { abandon, isPromiseLike } from './metering.ts';
import { NotCompilableError } from './not-compilable-error.ts';
import type { Complete, NullableFields, Run, Target } from './run.ts';
import { listKey, literalOf, type Selections } from './selections.ts';

/** The values of the variables in `@include` and `@skip`. */
export type Flags = ReadonlyMap<string, boolean>;

/** The selected fields that have the same response key: they are one field of the answer. */
type Nodes = readonly FieldNode[];
/** Sets a field of the object that is made of `source`. */
type SetField = (run: Run, source: Target, target: Target) => void;

interface Selection {
  /** An object with each key in its place. A copy of it is faster than an object that gets its keys one by one. */
  readonly blank: Target;
  readonly setFields: readonly SetField[];
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
    const blank: Target = {};
    const setFields: SetField[] = [];
    for (const [key, nodes] of collected) {
      const setField = this.#field(type, key, nodes, isRoot);
      // Any object of this type has this `__typename`.
      blank[key] = setField === null ? type.name : null;
      if (setField !== null) setFields.push(setField);
    }
    // Parsed: V8 keeps an object to which twenty names were added one by one, and its copies, as hash tables.
    return { blank: JSON.parse(JSON.stringify(blank)), setFields };
  }

  /** Returns null for `__typename`. */
  #field(type: GraphQLObjectType, key: string, nodes: Nodes, isRoot: boolean): SetField | null {
    this.size += 1;
    if (this.size > MAX_FIELDS) throw new NotCompilableError('too large');
    const [node] = nodes as [FieldNode];
    const field = this.#selections.schema.getField(type, node.name.value);
    // Assigning to `__proto__` would set the object's prototype.
    if (!field || key === '__proto__') throw new NotCompilableError('unknown');
    const { name, resolve } = field;
    if (name === '__typename') return null;
    if (name.startsWith('__')) throw new NotCompilableError('introspection');
    if (isRoot && !isNonNullType(field.type)) this.nullable.set(key, nodes);
    const complete = this.#value(field.type, nodes);
    if (resolve) return setResolved(key, field, this.args.add(field, node), complete);
    if (isRoot || field.args.length > 0) throw new NotCompilableError('no resolver');
    return setProperty(key, name, complete);
  }

  /** `isItem`: whether the value is an item of a list. */
  #value(type: GraphQLOutputType, nodes: Nodes, isItem = false): Complete {
    const complete = this.#nonNullValue(getNullableType(type), nodes, isItem);
    if (isNonNullType(type)) return complete;
    return (run, value) => (value == null ? null : complete(run, value));
  }

  #nonNullValue(type: GraphQLOutputType, nodes: Nodes, isItem: boolean): Complete {
    if (isLeafType(type)) return leafOf(type);
    if (isObjectType(type)) return objectFrom(this.selectionOf(type, nodes));
    if (!isListType(type)) throw new NotCompilableError('its type depends on the value');
    // The items of a list of lists are charged with it.
    const isCharged = !isItem && isCompositeType(getNamedType(type));
    return listFrom(this.#value(type.ofType, nodes, true), isCharged ? listKey(nodes) : null);
  }
}

function objectOf({ blank, setFields }: Selection, run: Run, source: Target): Target {
  const target = { ...blank };
  for (const setField of setFields) setField(run, source, target);
  return target;
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

function setProperty(key: string, name: string, complete: Complete): SetField {
  return (run, source, target) => {
    target[key] = complete(run, source[name]);
  };
}

function setResolved(key: string, { resolve }: Field, index: number, complete: Complete): SetField {
  // The fourth parameter is GraphQLResolveInfo, which compiled operations do not provide.
  if (!resolve || resolve.length > 3)
    throw new NotCompilableError('a resolver that looks at the document');
  return (run, source, target) => {
    const resolved = resolve(source, run.args[index] as never, run.context, undefined as never);
    if (isPromiseLike(resolved)) run.wait(resolved, complete, target, key);
    else target[key] = complete(run, resolved);
  };
}
