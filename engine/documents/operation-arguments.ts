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

// Each error prints the value that it is about.
const MAX_VARIABLE_ERRORS = 3;
const NO_VARIABLES: VariableValues = { sources: Object.create(null), coerced: Object.create(null) };
const ANY_OPERATION: OperationDefinitionNode = {
  kind: Kind.OPERATION_DEFINITION,
  operation: OperationTypeNode.QUERY,
  selectionSet: { kind: Kind.SELECTION_SET, selections: [] },
};

type DocumentArguments = Pick<
  ValidatedExecutionArgs,
  'schema' | 'document' | 'hideSuggestions' | 'fragments' | 'fragmentDefinitions'
>;

/** The executor's arguments that the operations of a document share. */
export function documentArguments(
  schema: GraphQLSchema,
  document: DocumentNode,
  hideSuggestions: boolean,
): DocumentArguments {
  const { fragments, fragmentDefinitions } = prepared(schema, hideSuggestions, [
    ANY_OPERATION,
    ...document.definitions.filter(({ kind }) => kind !== Kind.OPERATION_DEFINITION),
  ]);
  return { schema, document, hideSuggestions, fragments, fragmentDefinitions };
}

/** The executor's arguments of an operation; all but those of one run are computed once. */
export class OperationArguments {
  readonly #common: ValidatedExecutionArgs;

  constructor(ofDocument: DocumentArguments, operation: OperationDefinitionNode) {
    const { schema, hideSuggestions } = ofDocument;
    // Copies of fragment tables for fifty operations would outweigh the rest of their document.
    const own = prepared(schema, hideSuggestions, [{ ...operation, variableDefinitions: [] }]);
    this.#common = { ...own, ...ofDocument, operation };
  }

  /** Coerces the variables, or returns their errors. */
  read(
    variables: Readonly<Record<string, unknown>>,
  ): { readonly values: VariableValues } | { readonly errors: readonly GraphQLError[] } {
    const { schema, hideSuggestions, operation } = this.#common;
    const { variableDefinitions = [] } = operation;
    if (variableDefinitions.length === 0) return { values: NO_VARIABLES };
    const { errors, variableValues } = getVariableValues(schema, variableDefinitions, variables, {
      maxErrors: MAX_VARIABLE_ERRORS,
      hideSuggestions,
    });
    return errors ? { errors } : { values: variableValues };
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

/** The executor's own preparation requires values for variables, which do not exist yet. */
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
