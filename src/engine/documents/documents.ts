import {
  type DirectiveNode,
  type DocumentNode,
  type ExecutionArgs,
  type GraphQLError,
  type GraphQLSchema,
  Kind,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  specifiedRules,
  type ValidatedExecutionArgs,
  type ValidationRule,
  validate,
  visit,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { withoutStack } from '../../lib/public-error.ts';
import { redact } from '../../lib/redact.ts';
import { located, requestError } from '../core/errors.ts';
import { Selections } from '../core/selections.ts';
import { CompilingExecutor } from './compiler/compiling-executor.ts';
import { createMetering, type Metering } from './compiler/metering.ts';
import { type DocumentLimits, limitErrors, parseDocument } from './document-limits.ts';
import { OperationFacts } from './operation-facts.ts';
import { ExactNumbersRule, executionArgs } from './params.ts';
import { literalsOf, redactTexts } from './redact-literals.ts';

export interface DocumentOptions {
  readonly schema: GraphQLSchema;
  readonly limits: DocumentLimits;
  /** If false, "Did you mean…" is off as well, because suggestions disclose the schema. */
  readonly introspection: boolean;
  readonly maxBytes?: number;
}

/** A document that has passed every check that does not depend on variables. */
export interface PreparedDocument {
  readonly kind: 'document';
  /** The number of its tokens. Preparing it takes time in proportion to them. */
  readonly tokens: number;
  /** The document without `@defer`. */
  readonly document: DocumentNode;
  /** The document with `@defer`, for answers in parts; null if it has none outside of lists. */
  readonly deferring: DocumentNode | null;
  readonly operations: ReadonlyMap<string | null, PreparedOperation>;
}

export interface PreparedOperation {
  readonly facts: OperationFacts;
  readonly executor: CompilingExecutor;
  readonly node: OperationDefinitionNode;
  /** The operation's name, shortened and redacted for the log; null if it has none. */
  readonly logName: string | null;
}

interface InvalidDocument {
  readonly kind: 'invalid';
  readonly errors: readonly GraphQLError[];
  readonly tokens: number;
}
type DocumentResult = PreparedDocument | InvalidDocument;

const MAX_BYTES = 32 * 1024 * 1024;
// Measured: 260 to 430 bytes for a token of a prepared document, and nothing for a token of a refused one.
const BYTES_PER_TOKEN = 400;
const BYTES_PER_CHARACTER = 2;
const BYTES_PER_DOCUMENT = 4_096;
// This is a rough measurement.
const BYTES_PER_COMPILED_FIELD = 1_024;
// Ten errors fit into a response of a few kilobytes. Clients see the others after they have fixed these.
const MAX_ERRORS = 10;
// A client chooses the name of an operation.
const MAX_LOGGED_NAME_LENGTH = 80;

/** Parses, limits and validates each document once, whichever transport received it. */
export class Documents {
  readonly #metering: Metering;
  readonly #options: DocumentOptions;
  readonly #rules: readonly ValidationRule[];
  readonly #prepared: LRUCache<string, DocumentResult>;

  constructor(options: DocumentOptions) {
    this.#options = options;
    this.#metering = createMetering(options.schema);
    this.#rules = [
      ...specifiedRules,
      ExactNumbersRule,
      ...(options.introspection ? [] : [NoSchemaIntrospectionCustomRule]),
    ];
    this.#prepared = new LRUCache({
      maxSize: options.maxBytes ?? MAX_BYTES,
      sizeCalculation: sizeOf,
    });
  }

  get byteSize(): number {
    return this.#prepared.calculatedSize;
  }

  isPrepared(text: string): boolean {
    return this.#prepared.has(text);
  }

  prepare(text: string): DocumentResult {
    const known = this.#prepared.get(text);
    if (known) return known;
    const result = this.#prepare(text);
    this.#prepared.set(text, result);
    return result;
  }

  executionArgs(
    document: DocumentNode,
    given: Pick<ExecutionArgs, 'operationName' | 'variableValues'>,
  ): ValidatedExecutionArgs {
    const { schema, introspection } = this.#options;
    return executionArgs({ ...given, schema, document, hideSuggestions: !introspection });
  }

  #prepare(text: string): DocumentResult {
    const { schema, limits } = this.#options;
    const parsed = parseDocument(text, limits.maxTokens);
    if (parsed.kind === 'invalid') return parsed;
    const { document } = parsed;
    const selections = new Selections(schema, document);
    const tooLarge = limitErrors(document, limits, selections);
    const errors = tooLarge.length > 0 ? tooLarge : this.#validate(document);
    const { tokens } = parsed;
    if (errors.length > 0) return { kind: 'invalid', errors, tokens };
    return { kind: 'document', tokens, ...this.#preparedParts(selections, document, text) };
  }

  #validate(document: DocumentNode): readonly GraphQLError[] {
    const { schema, introspection } = this.#options;
    const options = { maxErrors: MAX_ERRORS, hideSuggestions: !introspection };
    const invalid = withoutStack(() => validate(schema, document, this.#rules, options));
    if (invalid.length === 0) return [];
    const literals = literalsOf(document);
    // After `maxErrors` graphql-js adds an error that says that it has stopped. `slice` drops that error.
    return invalid.slice(0, MAX_ERRORS).map((error) => {
      const hasCode = error.extensions.code !== undefined;
      const message = redactTexts(error.message, literals);
      return located(hasCode ? error : requestError('GRAPHQL_VALIDATION_FAILED', message), error);
    });
  }

  #preparedParts(selections: Selections, document: DocumentNode, text: string) {
    const onCompiled = () => this.#measureAgain(text);
    const operations = new Map<string | null, PreparedOperation>();
    for (const node of document.definitions) {
      if (node.kind !== Kind.OPERATION_DEFINITION) continue;
      const facts = new OperationFacts(selections, node);
      const { flagNames } = facts;
      operations.set(node.name?.value ?? null, {
        node,
        executor: new CompilingExecutor(this.#metering, selections, node, flagNames, onCompiled),
        facts,
        logName: node.name ? redact(node.name.value.slice(0, MAX_LOGGED_NAME_LENGTH)) : null,
      });
    }
    return { ...formsOf(document, [...operations.values()]), operations };
  }

  /** Stores an entry again, because the cache determines its size when it is stored. */
  #measureAgain(text: string): void {
    const result = this.#prepared.peek(text);
    if (result === undefined) return;
    this.#prepared.delete(text);
    this.#prepared.set(text, result);
  }
}

/**
 * The forms of a document without `@defer`, and with that which is answered in parts. Items of lists have none, because
 * each would have a part of its own: a fragment that is spread in a list loses its `@defer` everywhere.
 */
function formsOf(document: DocumentNode, operations: readonly PreparedOperation[]) {
  const inLists = new Set(operations.flatMap(({ facts }) => [...facts.defersInLists]));
  const others = operations.flatMap(({ facts }) => [...facts.otherDefers]);
  return {
    document: without(document, new Set([...inLists, ...others])),
    deferring: others.every((each) => inLists.has(each)) ? null : without(document, inLists),
  };
}

/** Returns the same object if there is nothing to leave out. */
function without(document: DocumentNode, directives: ReadonlySet<DirectiveNode>): DocumentNode {
  if (directives.size === 0) return document;
  return visit(document, { Directive: (node) => (directives.has(node) ? null : undefined) });
}

function sizeOf(result: DocumentResult, text: string): number {
  const bytes = BYTES_PER_DOCUMENT + text.length * BYTES_PER_CHARACTER;
  if (result.kind === 'invalid') return bytes;
  const { tokens } = result;
  const operations = [...result.operations.values()];
  const compiled = operations.reduce((sum, { executor }) => sum + executor.compiledFields, 0);
  return bytes + tokens * BYTES_PER_TOKEN + compiled * BYTES_PER_COMPILED_FIELD;
}
