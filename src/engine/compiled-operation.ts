import {
  type DocumentNode,
  type ExecutionResult,
  executeRootSelectionSet,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type ValidatedExecutionArgs,
  visit,
} from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';

// Compiling costs as much as some dozen runs: what comes once is not worth it, and a flood of
// documents that each come once must not be.
const RUNS_BEFORE_COMPILING = 2;

/**
 * One operation's execution: by the reference executor until it has shown that it comes again, then
 * compiled, where the two are known to answer alike.
 */
export class CompiledOperation {
  readonly #schema: GraphQLSchema;
  readonly #document: DocumentNode;
  readonly #operation: OperationDefinitionNode;
  #runs = 0;
  #compiled: CompiledQuery | null | undefined;

  constructor(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode) {
    this.#schema = schema;
    this.#document = document;
    this.#operation = operation;
  }

  /** `args` have passed the reference executor's own check of variables. */
  execute(args: ValidatedExecutionArgs): ExecutionResult | Promise<ExecutionResult> {
    const compiled = this.#whenWorthIt();
    if (compiled === null) return executeRootSelectionSet(args);
    return compiled.query(args.rootValue, args.contextValue, args.rawVariableValues ?? {}) as
      | ExecutionResult
      | Promise<ExecutionResult>;
  }

  /** Without waiting for a second run: for documents that are known to be used. */
  compile(): void {
    this.#runs = RUNS_BEFORE_COMPILING;
    this.#whenWorthIt();
  }

  #whenWorthIt(): CompiledQuery | null {
    if (this.#compiled !== undefined) return this.#compiled;
    this.#runs += 1;
    if (this.#runs < RUNS_BEFORE_COMPILING) return null;
    this.#compiled = this.#compileIfAlike();
    return this.#compiled;
  }

  #compileIfAlike(): CompiledQuery | null {
    if (this.#operation.operation === 'mutation' || !isPlain(this.#document)) return null;
    const name = this.#operation.name?.value;
    const compiled = compileQuery(this.#schema, this.#document, name, {
      // Its own serialiser is slower than JSON.stringify on long lists.
      customJSONSerializer: false,
      disableLeafSerialization: false,
    });
    return isCompiledQuery(compiled) ? compiled : null;
  }
}

/**
 * Introspection is rare and its resolvers want more than compiled code hands them; an answer's key
 * `__proto__` would vanish in an object that compiled code writes as a literal.
 */
function isPlain(document: DocumentNode): boolean {
  let plain = true;
  visit(document, {
    [Kind.FIELD]({ name, alias }) {
      const isMeta = name.value.startsWith('__') && name.value !== '__typename';
      if (isMeta || alias?.value === '__proto__') plain = false;
    },
  });
  return plain;
}
