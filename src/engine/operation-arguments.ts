import {
  type DefinitionNode,
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

// Each prints the value that it is about.
const MAX_VARIABLE_ERRORS = 3;
const NO_VARIABLES: VariableValues = { sources: Object.create(null), coerced: Object.create(null) };
const ANY_OPERATION: OperationDefinitionNode = {
  kind: Kind.OPERATION_DEFINITION,
  operation: OperationTypeNode.QUERY,
  selectionSet: { kind: Kind.SELECTION_SET, selections: [] },
};

export interface OneRun {
  readonly context: unknown;
  readonly values: VariableValues;
  /** As they were sent. */
  readonly variables: Readonly<Record<string, unknown>>;
}

/** What the operations of a document have in common. */
export interface DocumentArguments {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly hideSuggestions: boolean;
  readonly fragments: Fragments;
}

type Fragments = Pick<ValidatedExecutionArgs, 'fragments' | 'fragmentDefinitions'>;

export function documentArguments(
  schema: GraphQLSchema,
  document: DocumentNode,
  hideSuggestions: boolean,
): DocumentArguments {
  const { fragments, fragmentDefinitions } = prepared(schema, hideSuggestions, [
    ANY_OPERATION,
    ...document.definitions.filter(({ kind }) => kind !== Kind.OPERATION_DEFINITION),
  ]);
  return { schema, document, hideSuggestions, fragments: { fragments, fragmentDefinitions } };
}

/** What an executor wants to be given of an operation: all but a run's own is reckoned once. */
export class OperationArguments {
  readonly #of: DocumentArguments;
  readonly #operation: OperationDefinitionNode;
  readonly #common: ValidatedExecutionArgs;

  constructor(ofDocument: DocumentArguments, operation: OperationDefinitionNode) {
    const { schema, document, hideSuggestions, fragments } = ofDocument;
    this.#of = ofDocument;
    this.#operation = operation;
    // Fifty operations with tables of fragments each would outweigh all else of their document.
    const own = prepared(schema, hideSuggestions, [{ ...operation, variableDefinitions: [] }]);
    this.#common = { ...own, ...fragments, document, operation };
  }

  /** What the variables stand for; or what is wrong with them. */
  read(
    variables: Readonly<Record<string, unknown>>,
  ): { readonly values: VariableValues } | { readonly errors: readonly GraphQLError[] } {
    const { variableDefinitions = [] } = this.#operation;
    if (variableDefinitions.length === 0) return { values: NO_VARIABLES };
    const { schema, hideSuggestions } = this.#of;
    const { errors, variableValues } = getVariableValues(schema, variableDefinitions, variables, {
      maxErrors: MAX_VARIABLE_ERRORS,
      hideSuggestions,
    });
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
function prepared(
  schema: GraphQLSchema,
  hideSuggestions: boolean,
  definitions: readonly DefinitionNode[],
): ValidatedExecutionArgs {
  const document: DocumentNode = { kind: Kind.DOCUMENT, definitions };
  const args = validateExecutionArgs({ schema, document, hideSuggestions });
  if (!('schema' in args)) throw new Error('a document that was checked cannot be run');
  return args;
}
