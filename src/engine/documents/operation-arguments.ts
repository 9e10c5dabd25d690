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

// Each error prints the value that it is about.
const MAX_VARIABLE_ERRORS = 3;
export const NO_VARIABLES: VariableValues = {
  sources: Object.create(null),
  coerced: Object.create(null),
};
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

  /** Null where it is not to be disclosed. */
  get shownSchema(): GraphQLSchema | null {
    return this.#common.hideSuggestions ? null : this.#common.schema;
  }

  /** Coerces the variables, or returns their errors. */
  read(
    variables: Readonly<Record<string, unknown>>,
  ):
    | { readonly kind: 'values'; readonly values: VariableValues }
    | { readonly kind: 'invalid'; readonly errors: readonly GraphQLError[] } {
    const { schema, hideSuggestions, operation } = this.#common;
    const { variableDefinitions = [] } = operation;
    if (variableDefinitions.length === 0) return { kind: 'values', values: NO_VARIABLES };
    const { errors, variableValues } = getVariableValues(schema, variableDefinitions, variables, {
      maxErrors: MAX_VARIABLE_ERRORS,
      hideSuggestions,
    });
    return errors ? { kind: 'invalid', errors } : { kind: 'values', values: variableValues };
  }

  /** The arguments of one execution; `rawVariableValues` are the request's own. */
  of(
    contextValue: unknown,
    variableValues: VariableValues,
    rawVariableValues: Readonly<Record<string, unknown>>,
  ): ValidatedExecutionArgs {
    return { ...this.#common, contextValue, variableValues, rawVariableValues };
  }
}
