import {
  BREAK,
  type DocumentNode,
  type FloatValueNode,
  type GraphQLError,
  GraphQLID,
  type GraphQLSchema,
  getNamedType,
  type IntValueNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { INEXACT, isExactNumber } from '../../lib/exact-json.ts';
import { located, requestError } from '../../schema/public-error.ts';
import { ArgumentTrail, placeOf } from './blamed-argument.ts';

/**
 * Returns the error of the first number that a double cannot represent exactly; null where there is
 * none.
 */
export function inexactLiteralError(
  schema: GraphQLSchema,
  document: DocumentNode,
): GraphQLError | null {
  const types = new TypeInfo(schema);
  const trail = new ArgumentTrail();
  let error: GraphQLError | null = null;
  // The path to the variable whose default is being read, since the argument is where the variable is used.
  let base: string[] = [];
  const check = (node: IntValueNode | FloatValueNode) => {
    // An ID is carried as text.
    if (getNamedType(types.getInputType()) === GraphQLID || isExactNumber(node.value)) return;
    const argument = [...base, ...trail.names].join('.');
    error = located(inexactError(argument), { nodes: [node] });
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
    }),
  );
  return error;
}

function inexactError(argument: string): GraphQLError {
  return requestError('BAD_USER_INPUT', `There is ${INEXACT.description}.`, { argument });
}
