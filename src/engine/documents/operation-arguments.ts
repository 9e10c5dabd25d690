import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type ValidatedExecutionArgs,
  type VariableValues,
  validateExecutionArgs,
} from 'graphql';
import { INEXACT } from '../../lib/exact-json.ts';
import { type Refusal, refused } from '../operation/refusal.ts';
import { requestError } from '../operation/request-error.ts';
import { argumentInMessage } from './argument-names.ts';
import { redactTexts, textsIn } from './redact-literals.ts';

type Variables = Readonly<Record<string, unknown>>;

interface CoercedVariables {
  readonly kind: 'values';
  readonly values: VariableValues;
}

// Each error prints the value that it is about.
const MAX_VARIABLE_ERRORS = 3;
export const NO_VARIABLES: VariableValues = {
  sources: Object.create(null),
  coerced: Object.create(null),
};
const NONE: CoercedVariables = { kind: 'values', values: NO_VARIABLES };
const ANY_OPERATION: OperationDefinitionNode = {
  kind: Kind.OPERATION_DEFINITION,
  operation: OperationTypeNode.QUERY,
  selectionSet: { kind: Kind.SELECTION_SET, selections: [] },
};

/** The executor's arguments that the operations of a document share. Its own preparation requires values for variables. */
export function documentArguments(
  schema: GraphQLSchema,
  document: DocumentNode,
  hideSuggestions: boolean,
): ValidatedExecutionArgs {
  const others = document.definitions.filter(({ kind }) => kind !== Kind.OPERATION_DEFINITION);
  const stripped: DocumentNode = { kind: Kind.DOCUMENT, definitions: [ANY_OPERATION, ...others] };
  const args = validateExecutionArgs({ schema, document: stripped, hideSuggestions });
  if (!('schema' in args)) throw new Error('a document that was checked cannot be run');
  return { ...args, document };
}

/** The executor's arguments of an operation; all but those of one run are computed once. */
export class OperationArguments {
  readonly #common: ValidatedExecutionArgs;

  constructor(ofDocument: ValidatedExecutionArgs, operation: OperationDefinitionNode) {
    this.#common = { ...ofDocument, operation };
  }

  /** Coerces the variables once, for the cost and for the executors. */
  coerce(variables: Variables): CoercedVariables | Refusal {
    const { schema, hideSuggestions, operation, document } = this.#common;
    const { variableDefinitions = [] } = operation;
    if (variableDefinitions.length === 0) return NONE;
    const maxErrors = MAX_VARIABLE_ERRORS;
    const options = { maxErrors, hideSuggestions };
    const coerced = getVariableValues(schema, variableDefinitions, variables, options);
    if (!coerced.errors) return { kind: 'values', values: coerced.variableValues };
    const texts = textsIn(variables);
    return refused(coerced.errors.map((error) => published(error, texts, document)));
  }

  /** The arguments of one execution; `rawVariableValues` are the request's own. */
  of(
    contextValue: unknown,
    variableValues: VariableValues,
    rawVariableValues: Variables,
  ): ValidatedExecutionArgs {
    return { ...this.#common, contextValue, variableValues, rawVariableValues };
  }
}

/** The error of a variable, which names its argument and quotes no value. */
function published(
  { message }: GraphQLError,
  texts: Iterable<string>,
  document: DocumentNode,
): GraphQLError {
  const argument = argumentInMessage(message, document);
  // GraphQL prints INEXACT as a symbol.
  const shown = message.replaceAll(String(INEXACT), `${INEXACT.description}`);
  return requestError(
    'BAD_USER_INPUT',
    redactTexts(shown, texts),
    argument === null ? {} : { argument },
  );
}
