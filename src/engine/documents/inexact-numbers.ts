import {
  type ASTVisitFn,
  type DocumentNode,
  type FloatValueNode,
  type GraphQLError,
  GraphQLID,
  type GraphQLSchema,
  getNamedType,
  type IntValueNode,
  type ValidationContext,
  validate,
} from 'graphql';
import { INEXACT, isExactNumber } from '../../lib/exact-json.ts';
import { located, requestError } from '../operation/request-error.ts';
import { argumentAround } from './argument-names.ts';

/** The error of the first number in a document that a double cannot represent exactly; null where all are exact. */
export function inexactNumberError(
  schema: GraphQLSchema,
  document: DocumentNode,
): GraphQLError | null {
  const [error] = validate(schema, document, [ExactNumbersRule], { maxErrors: 1 });
  return error ?? null;
}

function ExactNumbersRule(context: ValidationContext) {
  const check: ASTVisitFn<IntValueNode | FloatValueNode> = (
    node,
    _key,
    parent,
    _path,
    ancestors,
  ) => {
    // An ID is carried as text.
    if (getNamedType(context.getInputType()) === GraphQLID || isExactNumber(node.value)) return;
    const argument = argumentAround([...ancestors, parent]);
    const error = requestError('BAD_USER_INPUT', `There is ${INEXACT.description}.`, {
      ...(argument && { argument }),
    });
    context.reportError(located(error, { nodes: [node] }));
  };
  return { IntValue: check, FloatValue: check };
}
