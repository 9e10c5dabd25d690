import {
  type ASTVisitFn,
  type FloatValueNode,
  GraphQLID,
  getNamedType,
  type IntValueNode,
  type ValidationContext,
} from 'graphql';
import { INEXACT, isExactNumber } from '../../lib/exact-json.ts';
import { located, requestError } from '../operation/request-error.ts';
import { argumentAround } from './argument-names.ts';

/** A validation rule: each number in a document must be exact as a double. */
export function ExactNumbersRule(context: ValidationContext) {
  const check: ASTVisitFn<IntValueNode | FloatValueNode> = (
    node,
    _key,
    parent,
    _path,
    ancestors,
  ) => {
    // An ID is kept as text.
    if (getNamedType(context.getInputType()) === GraphQLID || isExactNumber(node.value)) return;
    const argument = argumentAround([...ancestors, parent]);
    const message = `There is ${INEXACT.description}.`;
    const error = requestError('BAD_USER_INPUT', message, argument === '' ? {} : { argument });
    context.reportError(located(error, { nodes: [node] }));
  };
  return { IntValue: check, FloatValue: check };
}
