import {
  type FieldNode,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getArgumentValues,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type VariableValues,
} from 'graphql';
import { isPostponable } from '../../lib/field-traits.ts';
import { literalOf } from '../documents/document-values.ts';
import { NO_VARIABLES } from '../documents/operation-arguments.ts';
import type { SelectedField, Selecting, Selections } from '../documents/selections.ts';
import { usesVariables } from '../documents/shared-use.ts';
import { weightOfKey } from '../operation/meter.ts';

/** An operation's intermediate representation: one entry per field, in the order of the answer's keys. */
export interface OperationIr {
  readonly root: ObjectIr;
  readonly nullable: NullableFields;
  /** The number of fields, which estimates the time to compile and the memory of the code. */
  readonly size: number;
}

/** The fields of the root with which a null ends, by their keys: where one fails the others are answered. */
export type NullableFields = ReadonlyMap<string, readonly FieldNode[]>;

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

type ReadArguments = (variables: VariableValues) => Readonly<Record<string, unknown>>;

export interface ResolverIr {
  readonly resolve: GraphQLFieldResolver<unknown, unknown>;
  /** Constant arguments, or a function that reads them from the variables of a run. */
  readonly args: Readonly<Record<string, unknown>> | ReadArguments;
  /** True where it may compute much and return little, so that it is resolved in a slice of its own. */
  readonly isPostponable: boolean;
}

/** The values of the variables in `@include` and `@skip`. */
export type Flags = ReadonlyMap<string, boolean>;

// Hardly a document that a client writes has as many. For code of more fields V8's middle compiler, Maglev, takes up to
// 60 MB on each of its threads, and keeps them.
const MAX_FIELDS = 150;

/** Null for the reference executor's: introspection, unions and interfaces, which few select, and mutations, which are serial. */
export function irOf(
  selections: Selections,
  operation: OperationDefinitionNode,
  flags: Flags,
): OperationIr | null {
  const { schema } = selections;
  const root = schema.getRootType(operation.operation);
  if (!root || operation.operation === 'mutation') return null;
  let size = 0;

  function objectOf(type: GraphQLObjectType, from: readonly Selecting[]): ObjectIr {
    if (type.isTypeOf) throw new NotCompilableError('its values have to be asked');
    const collected = selections.collect(type, from, (node) =>
      node.kind === Kind.VARIABLE ? flags.get(node.name.value) : literalOf(node),
    );
    const fields = [...collected].map(([key, same]) => fieldOf(type, key, same));
    const weight = fields.reduce((sum, { key }) => sum + weightOfKey(key), 0);
    return { typeName: type.name, weight, fields };
  }

  function fieldOf(type: GraphQLObjectType, key: string, same: readonly SelectedField[]): FieldIr {
    size += 1;
    if (size > MAX_FIELDS) throw new NotCompilableError('too large');
    const nodes = same.map((one) => one.node);
    const [node] = nodes as [FieldNode];
    const field = schema.getField(type, node.name.value);
    if (!field) throw new NotCompilableError('unknown');
    if (field.name === '__typename') {
      return { key, property: null, value: outputOf(field.type, []), resolver: null, nodes };
    }
    if (field.name.startsWith('__')) throw new NotCompilableError('introspection');
    const value = outputOf(field.type, same);
    return { key, property: field.name, value, resolver: resolverOf(field, node), nodes };
  }

  function outputOf(type: GraphQLOutputType, same: readonly SelectedField[]): ValueIr {
    const isNonNull = isNonNullType(type);
    const inner = isNonNull ? type.ofType : type;
    if (isLeafType(inner)) return { kind: 'leaf', isNonNull, type: inner };
    if (isListType(inner)) return { kind: 'list', isNonNull, item: outputOf(inner.ofType, same) };
    if (!isObjectType(inner)) throw new NotCompilableError('its type depends on the value');
    return { kind: 'object', isNonNull, object: objectOf(inner, same) };
  }

  try {
    const object = objectOf(root, [{ node: operation, when: true, isFirst: true }]);
    const isResolved = object.fields.every(({ property, resolver }) => !property || resolver);
    if (!isResolved) return null;
    const nullable = object.fields.filter(({ value }) => !value.isNonNull);
    return {
      root: object,
      nullable: new Map(nullable.map(({ key, nodes }) => [key, nodes])),
      size,
    };
  } catch (error) {
    if (error instanceof NotCompilableError) return null;
    throw error;
  }
}

/** It never leaves this file. */
class NotCompilableError extends Error {}

function resolverOf(field: GraphQLField<unknown, unknown>, node: FieldNode): ResolverIr | null {
  const { resolve } = field;
  if (!resolve) {
    if (field.args.length > 0) throw new NotCompilableError('arguments that nobody reads');
    return null;
  }
  // The fourth parameter is GraphQLResolveInfo, which compiled code does not provide.
  if (resolve.length > 3) throw new NotCompilableError('a resolver that looks at the document');
  const read: ReadArguments = (variables) => getArgumentValues(field, node, variables);
  try {
    const args = node.arguments?.some(usesVariables) ? read : read(NO_VARIABLES);
    return { resolve, args, isPostponable: isPostponable(field) };
  } catch (error) {
    throw new NotCompilableError('arguments that cannot be read', { cause: error });
  }
}
