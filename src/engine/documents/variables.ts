import {
  type ASTNode,
  type ASTVisitFn,
  BREAK,
  type DocumentNode,
  type ExecutionArgs,
  type FloatValueNode,
  type GraphQLError,
  GraphQLID,
  getNamedType,
  type IntValueNode,
  type OperationDefinitionNode,
  type ValidatedExecutionArgs,
  type ValidationContext,
  validateExecutionArgs,
  visit,
} from 'graphql';
import { INEXACT, isExactNumber } from '../../lib/json.ts';
import { located, Refusal, requestError } from '../operation/errors.ts';
import { redactTexts, textsIn } from './redact-literals.ts';

// Each error quotes the value, which may be long.
const MAX_COERCION_ERRORS = 3;

/** The variables that an operation defines. Others have no effect, and a subscription would retain them. */
export function definedVariables(
  { variableDefinitions = [] }: OperationDefinitionNode,
  sent: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const names = variableDefinitions.map(({ variable }) => variable.name.value);
  const given = names.filter((name) => Object.hasOwn(sent, name));
  return Object.fromEntries(given.map((name) => [name, sent[name]]));
}

/** Returns the executor's arguments for one request, with coerced variables. Throws a Refusal if they are invalid. */
export function executionArgs(given: ExecutionArgs): ValidatedExecutionArgs {
  const options = { maxCoercionErrors: MAX_COERCION_ERRORS };
  const args = validateExecutionArgs({ ...given, options });
  if ('schema' in args) return args;
  const texts = textsIn(given.variableValues);
  throw new Refusal(args.map((error) => published(error, texts, given.document)));
}

/** Converts the error of a variable to one that names its argument and quotes no value. */
function published(
  { message }: GraphQLError,
  texts: Iterable<string>,
  document: DocumentNode,
): GraphQLError {
  const argument = argumentInMessage(message, document);
  // graphql-js prints the value INEXACT as `Symbol(…)`. Clients get its description.
  const shown = message.replaceAll(String(INEXACT), `${INEXACT.description}`);
  const extensions = argument === null ? {} : { argument };
  return requestError('BAD_USER_INPUT', redactTexts(shown, texts), extensions);
}

/** A message of graphql-js about a variable. The groups: the variable, the path in its value, a missing or unknown field. */
const INVALID =
  /^Variable "\$(\w+)" has invalid value(?: at (\S+))?: (?:Expected value of type "\w+" (?:not )?to include (?:required|unknown) field "(\w+)")?/;

/**
 * Returns the argument that an invalid variable is used for, such as `input.size.units`, because a form knows its inputs
 * but not the variables. Null if the message is not about a variable.
 */
function argumentInMessage(message: string, document: DocumentNode): string | null {
  const found = INVALID.exec(message);
  if (!found) return null;
  const [, variable = '', path = '', field] = found;
  const argument = argumentOfVariable(variable, document);
  return `${argument}${path}${field === undefined ? '' : `.${field}`}`;
}

/** The argument that a variable is used for, or a part of it; the variable's own name if it is unused. */
function argumentOfVariable(variable: string, document: DocumentNode): string {
  let found = '';
  visit(document, {
    Variable({ name }, _key, parent, _path, ancestors) {
      if (name.value !== variable) return undefined;
      found = argumentAround([...ancestors, parent]);
      // The declaration of the variable is visited too, and is outside every argument.
      return found === '' ? undefined : BREAK;
    },
  });
  return found || variable;
}

type Ancestor = ASTNode | readonly ASTNode[] | undefined;

/** The argument that contains a node, or a part of it; '' if there is none. */
function argumentAround(ancestors: readonly Ancestor[]): string {
  return ancestors.flatMap(argumentName).join('.');
}

function argumentName(ancestor: Ancestor): string[] {
  if (ancestor === undefined || !('kind' in ancestor)) return [];
  const isNamed = ancestor.kind === 'Argument' || ancestor.kind === 'ObjectField';
  return isNamed ? [ancestor.name.value] : [];
}

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
