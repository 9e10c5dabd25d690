import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  type ValidatedExecutionArgs,
  type VariableValues,
  validateExecutionArgs,
} from 'graphql';

// Each prints the value that it is about.
const MAX_VARIABLE_ERRORS = 3;
const NO_VARIABLES: VariableValues = { sources: Object.create(null), coerced: Object.create(null) };

export interface OneRun {
  readonly context: unknown;
  readonly values: VariableValues;
  /** As they were sent. */
  readonly variables: Readonly<Record<string, unknown>>;
}

/** What an executor wants to be given of an operation: all but a run's own is reckoned once. */
export class OperationArguments {
  readonly #schema: GraphQLSchema;
  readonly #operation: OperationDefinitionNode;
  readonly #common: ValidatedExecutionArgs;
  readonly #hideSuggestions: boolean;

  constructor(
    schema: GraphQLSchema,
    document: DocumentNode,
    operation: OperationDefinitionNode,
    hideSuggestions: boolean,
  ) {
    this.#schema = schema;
    this.#operation = operation;
    this.#hideSuggestions = hideSuggestions;
    this.#common = {
      ...withoutVariables(schema, document, operation, hideSuggestions),
      document,
      operation,
    };
  }

  /** What the variables stand for; or what is wrong with them. */
  read(
    variables: Readonly<Record<string, unknown>>,
  ): { readonly values: VariableValues } | { readonly errors: readonly GraphQLError[] } {
    const { variableDefinitions = [] } = this.#operation;
    if (variableDefinitions.length === 0) return { values: NO_VARIABLES };
    const { errors, variableValues } = getVariableValues(
      this.#schema,
      variableDefinitions,
      variables,
      { maxErrors: MAX_VARIABLE_ERRORS, hideSuggestions: this.#hideSuggestions },
    );
    return errors ? { errors } : { values: variableValues };
  }

  of({ context, values, variables }: OneRun): ValidatedExecutionArgs {
    return {
      ...this.#common,
      contextValue: context,
      variableValues: values,
      rawVariableValues: variables,
    };
  }
}

/** The executor's own preparation wants values for variables, of which there are none yet. */
function withoutVariables(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  hideSuggestions: boolean,
): ValidatedExecutionArgs {
  const definitions = document.definitions.flatMap((definition) => {
    if (definition === operation) return { ...operation, variableDefinitions: [] };
    return definition.kind === Kind.OPERATION_DEFINITION ? [] : definition;
  });
  const prepared = validateExecutionArgs({
    schema,
    document: { ...document, definitions },
    hideSuggestions,
  });
  if (!('schema' in prepared)) throw new Error('a document that was checked cannot be run');
  return prepared;
}
