import {
  type FieldNode,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLLeafType,
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
import { memo } from '../../../lib/memo.ts';
import { listKey } from '../operation-facts.ts';
import { literalOf, mayHoldVariable, type Selections } from '../selections.ts';
import { leafOf, notWhole, type ReadLeaf } from './leaves.ts';
import { abandon } from './metering.ts';
import type { NullableFields, RunRoot } from './run.ts';

/** The values of the variables in `@include` and `@skip`. */
export type Flags = ReadonlyMap<string, boolean>;

/** The selected fields that have the same response key: they are one field of the answer. */
type Nodes = readonly FieldNode[];
type Parents = Nodes | [OperationDefinitionNode];
type ReadArguments = (variables: VariableValues) => Readonly<Record<string, unknown>>;

interface Resolver {
  readonly resolve: GraphQLFieldResolver<unknown, unknown>;
  /** Constant arguments, or a function that computes them from the variables of a run. */
  readonly args: Readonly<Record<string, unknown>> | ReadArguments;
}

/** The compiled code of one operation for one combination of flags. */
export interface CompiledCode {
  readonly root: RunRoot;
  readonly nullable: NullableFields;
  /** The number of fields. It estimates the time to compile and the memory of the code. */
  readonly size: number;
  /** Returns the arguments of each resolver, by its index. Throws if they cannot be coerced. */
  readonly argsFor: (variables: VariableValues) => readonly unknown[];
}

// A screen of many sections has this many fields. Measured with ten documents of 300 fields, compiled code takes a fifth to
// a third of graphql-js's CPU time, and no more memory. At 600 fields V8's compiler Maglev takes and keeps 170 MB more.
const MAX_FIELDS = 300;

const INTROSPECTION_NAME = /^__(?!typename$)/;

/** Generated code that leaves everything but a plain object to the reference executor. */
const REQUIRE_OBJECT =
  'if (source === null || typeof source !== "object" || source instanceof Error || typeof source.then === "function") throw notWhole(source);';

/**
 * Compiles an operation to one function per selection set. The function writes its object as one literal, so that all
 * objects of a list have one hidden class. Names are the only client input in the code, and GraphQL restricts them to
 * letters, digits and underscores. Returns null for mutations, which are serial, and for introspection, unions and
 * interfaces, which few documents select. The reference executor runs these.
 */
export function compile(
  selections: Selections,
  operation: OperationDefinitionNode,
  flags: Flags,
): CompiledCode | null {
  const root = selections.schema.getRootType(operation.operation);
  if (!root || operation.operation === 'mutation') return null;
  const writer = new Writer(selections, flags);
  try {
    const entry = writer.writeObject(root, [operation], true);
    const make = new Function(
      'leaves',
      'resolvers',
      'notWhole',
      'abandon',
      writer.programText(entry),
    );
    const { leaves, resolvers, args, nullable, size } = writer;
    const code = make(leaves, resolvers, notWhole, abandon) as RunRoot;
    return { root: code, nullable, size, argsFor: argumentsReader(args) };
  } catch (error) {
    if (error instanceof NotCompilableError) return null;
    throw error;
  }
}

function argumentsReader(args: readonly Resolver['args'][]): CompiledCode['argsFor'] {
  if (args.every((each) => typeof each !== 'function')) return () => args;
  return (variables) => args.map((each) => (typeof each === 'function' ? each(variables) : each));
}

class Writer {
  readonly leaves: ReadLeaf[] = [];
  readonly resolvers: Resolver['resolve'][] = [];
  readonly args: Resolver['args'][] = [];
  readonly nullable = new Map<string, readonly FieldNode[]>();
  size = 0;
  readonly #selections: Selections;
  readonly #flags: Flags;
  readonly #leafNames = new Map<GraphQLLeafType, string>();
  readonly #functions: string[] = [];

  constructor(selections: Selections, flags: Flags) {
    this.#selections = selections;
    this.#flags = flags;
  }

  programText(entry: string): string {
    const leaves = this.leaves.map((_, i) => `const leaf${i} = leaves[${i}];`);
    const resolvers = this.resolvers.map((_, i) => `const resolve${i} = resolvers[${i}];`);
    const code = ['"use strict";', ...leaves, ...resolvers, ...this.#functions, `return ${entry};`];
    return code.join('\n');
  }

  /** Writes a function that makes the object with the selections of `from`. Returns the function's name. */
  writeObject(type: GraphQLObjectType, from: Parents, isRoot = false): string {
    if (type.isTypeOf) throw new NotCompilableError('isTypeOf');
    const collected = this.#selections.collect([type], from, (node) =>
      node.kind === Kind.VARIABLE ? this.#flags.get(node.name.value) : literalOf(node),
    );
    const literal: string[] = [];
    const calls: string[] = [];
    for (const [key, nodes] of collected) {
      this.size += 1;
      if (this.size > MAX_FIELDS) throw new NotCompilableError('too large');
      const [node] = nodes as [FieldNode];
      const field = this.#selections.schema.getField(type, node.name.value);
      if (!field) throw new NotCompilableError('unknown');
      if (INTROSPECTION_NAME.test(field.name)) throw new NotCompilableError('introspection');
      const isTypename = field.name === '__typename';
      const resolver = isTypename ? null : resolverOf(field, node);
      literal.push(`${keyOf(key)}: ${this.#initialValue(type.name, field, nodes, resolver)}`);
      if (resolver) calls.push(this.#resolverCall(key, field, nodes, resolver));
      if (!isRoot) continue;
      if (!resolver && !isTypename) throw new NotCompilableError('no resolver');
      if (!isNonNullType(field.type)) this.nullable.set(key, nodes);
    }
    const name = `object${this.#functions.length}`;
    this.#functions.push(`function ${name}(run, source) {
  ${isRoot ? '' : REQUIRE_OBJECT}
  let value;
  const target = { ${literal.join(', ')} };
  ${calls.join('\n  ')}
  return target;
}`);
    return name;
  }

  /** Returns an expression for a field's value in the literal. The value of a resolver is assigned after the literal. */
  #initialValue(typeName: string, field: Field, nodes: Nodes, resolver: Resolver | null): string {
    if (field.name === '__typename') return quoted(typeName);
    return resolver ? 'null' : this.#read(field.type, nodes, `source[${quoted(field.name)}]`);
  }

  /** Returns the statement that calls a field's resolver, and assigns its completed value to the object. */
  #resolverCall(key: string, field: Field, nodes: Nodes, resolver: Resolver): string {
    const index = this.resolvers.length;
    this.resolvers.push(resolver.resolve);
    this.args.push(resolver.args);
    const complete = `complete${index}`;
    this.#functions.push(`function ${complete}(run, resolved) {
  let value;
  return ${this.#read(field.type, nodes, 'resolved')};
}`);
    return `{
    const resolved = resolve${index}(source, run.args[${index}], run.context);
    if (resolved !== null && typeof resolved === "object" && typeof resolved.then === "function") run.wait(resolved, ${complete}, target, ${quoted(key)});
    else target[${quoted(key)}] = ${complete}(run, resolved);
  }`;
  }

  /** Returns an expression for the completed value of `from`. The variable `value` avoids that `from` is evaluated twice. */
  #read(type: GraphQLOutputType, nodes: Nodes, from: string, isItem = false): string {
    const complete = this.#completer(getNullableType(type), nodes, isItem);
    if (isNonNullType(type)) return complete(from);
    return `(value = ${from}) == null ? null : ${complete('value')}`;
  }

  /** Returns a function that turns the expression of a non-null value into an expression that completes the value. */
  #completer(type: GraphQLOutputType, nodes: Nodes, isItem: boolean): (from: string) => string {
    if (isLeafType(type)) {
      const leaf = this.#leafName(type);
      return (from) => `${leaf}(${from}, run)`;
    }
    if (isListType(type)) {
      // The items of a list of lists are charged with it.
      const isCharged = !isItem && isCompositeType(getNamedType(type));
      const list = this.#writeList(type.ofType, nodes, isCharged);
      return (from) => `${list}(run, ${from})`;
    }
    if (!isObjectType(type)) throw new NotCompilableError('its type depends on the value');
    const object = this.writeObject(type, nodes);
    return (from) => `${object}(run, ${from})`;
  }

  #writeList(item: GraphQLOutputType, nodes: Nodes, isCharged: boolean): string {
    const read = this.#read(item, nodes, 'values[index]', true);
    const name = `list${this.#functions.length}`;
    this.#functions.push(`function ${name}(run, values) {
  if (!Array.isArray(values)) throw notWhole(values);
  let value;
  const items = [];
  try {
    ${isCharged ? `run.meter.chargeItems(${listKey(nodes)}, values);` : ''}
    for (let index = 0; index < values.length; index += 1) items.push(${read});
  } catch (error) {
    abandon(values);
    throw error;
  }
  return items;
}`);
    return name;
  }

  #leafName(type: GraphQLLeafType): string {
    return memo(this.#leafNames, type, () => {
      const name = `leaf${this.leaves.length}`;
      this.leaves.push(leafOf(type));
      return name;
    });
  }
}

/** Returns a computed key, because a plain `__proto__` would set the literal's prototype. */
function keyOf(name: string): string {
  return name === '__proto__' ? `[${quoted(name)}]` : quoted(name);
}

const NAME = /^[_A-Za-z][_0-9A-Za-z]*$/;

function quoted(name: string): string {
  if (!NAME.test(name)) throw new Error('not a name of the language');
  return `"${name}"`;
}

type Field = GraphQLField<unknown, unknown>;

const NO_VARIABLES: VariableValues = { sources: Object.create(null), coerced: Object.create(null) };

/** Thrown and caught in this file. */
class NotCompilableError extends Error {}

function resolverOf(field: Field, node: FieldNode): Resolver | null {
  const { resolve } = field;
  if (!resolve) {
    if (field.args.length > 0) throw new NotCompilableError('arguments without a resolver');
    return null;
  }
  // The fourth parameter is GraphQLResolveInfo, which compiled code does not provide.
  if (resolve.length > 3) throw new NotCompilableError('a resolver that looks at the document');
  const read: ReadArguments = (variables) => getArgumentValues(field, node, variables);
  try {
    const args = node.arguments?.some(mayHoldVariable) ? read : read(NO_VARIABLES);
    return { resolve, args };
  } catch (error) {
    throw new NotCompilableError('arguments that cannot be read', { cause: error });
  }
}
