import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getArgumentValues,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type VariableValues,
  visit,
} from 'graphql';
import { weightOfKey } from '../limits/meter.ts';
import { type Flags, isIncluded } from './flags.ts';

/**
 * The intermediate representation of an operation: one entry per field, in the order of the
 * answer's keys.
 */
export interface OperationIr {
  readonly root: ObjectIr;
  /** The fields of the root that have a resolver, in the order of the root's fields. */
  readonly rootFields: readonly RootField[];
  /** The number of fields, which estimates the time to compile and the memory of the code. */
  readonly size: number;
}

/** A field of the root, which the reference executor can run without the others where it fails. */
export interface RootField {
  readonly key: string;
  /** Null ends with this field where it is nullable; otherwise the whole answer is null. */
  readonly isNullable: boolean;
  readonly nodes: readonly FieldNode[];
}

export interface ObjectIr {
  readonly typeName: string;
  /** The fields that each such object counts in an answer. */
  readonly weight: number;
  readonly fields: readonly FieldIr[];
}

export interface FieldIr {
  readonly key: string;
  /** The property that contains the value; null for `__typename`. */
  readonly property: string | null;
  readonly value: ValueIr;
  /** Null where the property is the value. */
  readonly resolver: ResolverIr | null;
  readonly nodes: readonly FieldNode[];
}

export type ValueIr = { readonly isNonNull: boolean } & (
  | { readonly kind: 'leaf'; readonly type: GraphQLLeafType }
  | { readonly kind: 'list'; readonly item: ValueIr }
  | { readonly kind: 'object'; readonly object: ObjectIr }
);

export type ReadArguments = (variables: VariableValues) => Readonly<Record<string, unknown>>;

export interface ResolverIr {
  readonly resolve: GraphQLFieldResolver<unknown, unknown>;
  /** Constant arguments, or a function that reads them from the variables of a run. */
  readonly args: Readonly<Record<string, unknown>> | ReadArguments;
  /** A field with arguments may compute much and return little. */
  readonly takesArguments: boolean;
}

// Compiling is synchronous: this many fields take some milliseconds.
const MAX_FIELDS = 1_000;

/**
 * Null for what is left to the reference executor: introspection, whose resolvers need the whole
 * schema; unions and interfaces, which few queries select; mutations, which run serially.
 */
export function irOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  flags: Flags,
): OperationIr | null {
  const root = schema.getRootType(operation.operation);
  if (!root || operation.operation === 'mutation') return null;
  const irBuilder = new IrBuilder(schema, document, flags);
  try {
    const object = irBuilder.object(root, [operation.selectionSet]);
    const isResolved = object.fields.every(({ property, resolver }) => !property || resolver);
    if (!isResolved) return null;
    const rootFields = object.fields
      .filter(({ resolver }) => resolver)
      .map(({ key, value, nodes }) => ({ key, isNullable: !value.isNonNull, nodes }));
    return { root: object, rootFields, size: irBuilder.size };
  } catch (error) {
    if (error instanceof NotCompilableError) return null;
    throw error;
  }
}

class NotCompilableError extends Error {
  override readonly name = 'NotCompilableError';
}

const NO_VARIABLES: VariableValues = { sources: {}, coerced: {} };

class IrBuilder {
  readonly #schema: GraphQLSchema;
  readonly #flags: Flags;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  size = 0;

  constructor(schema: GraphQLSchema, { definitions }: DocumentNode, flags: Flags) {
    this.#schema = schema;
    this.#flags = flags;
    this.#fragments = new Map(
      definitions
        .filter((one): one is FragmentDefinitionNode => one.kind === Kind.FRAGMENT_DEFINITION)
        .map((fragment) => [fragment.name.value, fragment]),
    );
  }

  object(type: GraphQLObjectType, selectionSets: readonly SelectionSetNode[]): ObjectIr {
    if (type.isTypeOf) throw new NotCompilableError('its values have to be asked');
    const groups = new Map<string, FieldNode[]>();
    const visited = new Set<string>();
    for (const { selections } of selectionSets) this.#collect(type, selections, groups, visited);
    const fields = [...groups].map(([key, nodes]) => this.#field(type, key, nodes));
    const weight = fields.reduce((sum, { key }) => sum + weightOfKey(key), 0);
    return { typeName: type.name, weight, fields };
  }

  /** Collects the fields in the reference executor's order, which is the order of the answer. */
  #collect(
    type: GraphQLObjectType,
    selections: readonly SelectionNode[],
    groups: Map<string, FieldNode[]>,
    visited: Set<string>,
  ): void {
    for (const selection of selections) {
      if (!isIncluded(selection, this.#flags)) continue;
      if (selection.kind === Kind.FIELD) {
        const key = (selection.alias ?? selection.name).value;
        const nodes = groups.get(key);
        if (nodes) nodes.push(selection);
        else groups.set(key, [selection]);
        continue;
      }
      const isSpread = selection.kind === Kind.FRAGMENT_SPREAD;
      const fragment = isSpread ? this.#fragments.get(selection.name.value) : selection;
      if (!fragment || !this.#applies(type, fragment.typeCondition?.name.value)) continue;
      if (isSpread) {
        if (visited.has(selection.name.value)) continue;
        visited.add(selection.name.value);
      }
      this.#collect(type, fragment.selectionSet.selections, groups, visited);
    }
  }

  #applies(type: GraphQLObjectType, condition: string | undefined): boolean {
    if (condition === undefined || condition === type.name) return true;
    const wanted = this.#schema.getType(condition);
    return isAbstractType(wanted) && this.#schema.isSubType(wanted, type);
  }

  #field(type: GraphQLObjectType, key: string, nodes: readonly FieldNode[]): FieldIr {
    this.size += 1;
    if (this.size > MAX_FIELDS) throw new NotCompilableError('too large');
    const [node] = nodes as [FieldNode];
    const field = this.#schema.getField(type, node.name.value);
    if (!field) throw new NotCompilableError('unknown');
    if (field.name === '__typename') {
      const value = this.#value(field.type, []);
      return { key, property: null, value, resolver: null, nodes };
    }
    if (field.name.startsWith('__')) throw new NotCompilableError('introspection');
    const value = this.#value(field.type, nodes);
    return { key, property: field.name, value, resolver: resolverOf(field, node), nodes };
  }

  #value(type: GraphQLOutputType, nodes: readonly FieldNode[]): ValueIr {
    const isNonNull = isNonNullType(type);
    const inner = isNonNull ? type.ofType : type;
    if (isLeafType(inner)) return { kind: 'leaf', isNonNull, type: inner };
    if (isListType(inner)) {
      return { kind: 'list', isNonNull, item: this.#value(inner.ofType, nodes) };
    }
    if (!isObjectType(inner)) throw new NotCompilableError('its type depends on the value');
    const selectionSets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    return { kind: 'object', isNonNull, object: this.object(inner, selectionSets) };
  }
}

function resolverOf(field: GraphQLField<unknown, unknown>, node: FieldNode): ResolverIr | null {
  const { resolve } = field;
  if (!resolve) {
    if (field.args.length > 0) throw new NotCompilableError('arguments that nobody reads');
    return null;
  }
  // The fourth parameter is GraphQLResolveInfo, which compiled code does not provide.
  if (resolve.length > 3) throw new NotCompilableError('a resolver that looks at the document');
  const takesArguments = field.args.length > 0;
  if (namesVariable(node)) {
    const args: ReadArguments = (variables) => getArgumentValues(field, node, variables);
    return { resolve, args, takesArguments };
  }
  try {
    return { resolve, args: getArgumentValues(field, node, NO_VARIABLES), takesArguments };
  } catch (error) {
    throw new NotCompilableError('arguments that cannot be read', { cause: error });
  }
}

function namesVariable({ arguments: args = [] }: FieldNode): boolean {
  let names = false;
  for (const { value } of args) {
    visit(value, {
      [Kind.VARIABLE]() {
        names = true;
      },
    });
  }
  return names;
}
