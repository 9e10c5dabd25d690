import {
  BREAK,
  type DocumentNode,
  type GraphQLError,
  GraphQLID,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInputObjectType,
  Kind,
  TypeInfo,
  type ValueNode,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { INEXACT, isExactNumber } from '../../lib/exact-json.ts';
import { located, requestError } from '../../schema/public-error.ts';
import { ArgumentTrail, nullMemberError, placeOf } from './blamed-argument.ts';

/**
 * Returns the error of the first number that a double cannot represent exactly; null where there is
 * none.
 */
export function inexactLiteralError(
  schema: GraphQLSchema,
  document: DocumentNode,
): GraphQLError | null {
  return firstRefused(schema, document, (node, types, argument) => {
    if (node.kind !== Kind.INT && node.kind !== Kind.FLOAT) return null;
    // An ID is carried as text.
    if (getNamedType(types.getInputType()) === GraphQLID || isExactNumber(node.value)) return null;
    return requestError('BAD_USER_INPUT', `There is ${INEXACT.description}.`, { argument });
  });
}

/**
 * Returns the error of the first null in a OneOf input object, null where there is none. Clients that write
 * values into their documents send such a null for a number that was mistyped.
 */
export function nullMemberLiteralError(
  schema: GraphQLSchema,
  document: DocumentNode,
): GraphQLError | null {
  return firstRefused(schema, document, (node, types, argument) => {
    const parent = getNullableType(types.getParentInputType());
    if (node.kind !== Kind.NULL || !isInputObjectType(parent) || !parent.isOneOf) return null;
    return nullMemberError(argument);
  });
}

type Judge = (node: ValueNode, types: TypeInfo, argument: string) => GraphQLError | null;

function firstRefused(
  schema: GraphQLSchema,
  document: DocumentNode,
  judge: Judge,
): GraphQLError | null {
  const types = new TypeInfo(schema);
  const trail = new ArgumentTrail();
  let error: GraphQLError | null = null;
  // The path to the variable whose default is being read, since the argument is where the variable is used.
  let base: string[] = [];
  const check = (node: ValueNode) => {
    const refused = judge(node, types, [...base, ...trail.names].join('.'));
    if (refused === null) return;
    error = located(refused, { nodes: [node] });
    return BREAK;
  };
  visit(
    document,
    visitWithTypeInfo(types, {
      ...trail.visitor,
      VariableDefinition: {
        enter({ variable: { name } }) {
          base = [placeOf(name.value, document) ?? name.value];
        },
        leave() {
          base = [];
        },
      },
      IntValue: check,
      FloatValue: check,
      NullValue: check,
    }),
  );
  return error;
}
