import { hash } from 'node:crypto';
import {
  DeferStreamDirectiveOnRootFieldRule,
  DeferStreamDirectiveOnValidOperationsRule,
  type DocumentNode,
  type ExecutionResult,
  FieldsOnCorrectTypeRule,
  type GraphQLError,
  type GraphQLSchema,
  Kind,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  OperationTypeNode,
  specifiedRules,
  type ValidatedExecutionArgs,
  type ValidationRule,
  validate,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import type { MaybePromise } from '../../lib/maybe-promise.ts';
import type { CacheReads } from '../../lib/metrics/registry.ts';
import { redact } from '../../lib/redact.ts';
import { withoutStack } from '../../lib/stackless-error.ts';
import { located, requestError } from '../operation/request-error.ts';
import type { PartsFormat } from '../operation/transport-context.ts';
import { withoutDefer, withoutDeferred } from './defer.ts';
import { createListSizes, type ListSizes } from './list-sizes.ts';
import type { Meter } from './meter.ts';
import { documentArguments, OperationArguments } from './operation-arguments.ts';
import { factsOf, type OperationFacts } from './operation-facts.ts';
import { freeTokens, parseDocument } from './parse-document.ts';
import { literalsOf, redactTexts, withEnumValues } from './redact-literals.ts';
import { inexactLiteralError, nullMemberLiteralError } from './refused-literals.ts';
import { MAX_FOLLOWED, Selections } from './selections.ts';
import { type SharedUse, sharedUseOf } from './sharing-marks.ts';
import { type StructureLimits, structureErrors, tooComplex } from './structure.ts';

export interface DocumentOptions {
  readonly schema: GraphQLSchema;
  readonly limits: StructureLimits;
  /** When false, "Did you mean…" is off as well, since suggestions disclose the schema. */
  readonly introspection: boolean;
  readonly executors: Executors;
  readonly maxBytes?: number;
  /** Count whether a document had been prepared before. */
  readonly reads?: CacheReads;
}

interface WithErrors {
  readonly errors?: readonly GraphQLError[] | undefined;
}

/** A part of an answer, by either format. */
export interface AnswerPart extends WithErrors {
  readonly incremental?: readonly WithErrors[] | undefined;
  readonly completed?: readonly WithErrors[] | undefined;
  readonly hasNext: boolean;
}

/** An answer in parts, as graphql-js makes it. */
export interface PartResults {
  readonly initialResult: AnswerPart;
  readonly subsequentResults: AsyncGenerator<AnswerPart, void, void>;
}

/** Executes an operation of a prepared document, which keeps it for as long as it is itself kept. */
export interface OperationExecutor {
  /** `args` have passed the reference executor's own check of variables. */
  execute(args: ValidatedExecutionArgs, meter: Meter): MaybePromise<ExecutionResult>;
  /** Executes a query whose fragments may come in parts, of which its answer is one or several. */
  executeInParts(
    args: ValidatedExecutionArgs,
    meter: Meter,
    format: PartsFormat,
  ): MaybePromise<ExecutionResult | PartResults>;
  /** Compiles on the first run, for documents that are known to be used. */
  compile(): void;
  /** Frees the code of an evicted document, which would keep the document alive. */
  release(): void;
}

/** Makes the executors of a schema's operations. */
export interface Executors {
  /** The memory of the code that they have compiled. */
  readonly byteSize: number;
  create(selections: Selections, operation: OperationDefinitionNode): OperationExecutor;
}

/** A query whose answer may come in parts. */
export interface Deferral {
  /** With the directives that the other arguments lack. */
  readonly args: OperationArguments;
  /** The plans of the first part. */
  readonly plans: OperationFacts['plans'];
  /** Where one of them is false, the answer is in one piece. */
  readonly variables: readonly string[];
}

/** A document that passed every check that does not depend on variables. */
export interface PreparedDocument {
  readonly kind: 'document';
  /** The lexical tokens, as many as were read. */
  readonly tokens: number;
  readonly document: DocumentNode;
  readonly operations: ReadonlyMap<string | null, PreparedOperation>;
}

export interface PreparedOperation extends OperationFacts {
  readonly kind: 'operation';
  readonly args: OperationArguments;
  readonly executor: OperationExecutor;
  readonly node: OperationDefinitionNode;
  /** Null where it has no fragments that may be deferred. */
  readonly deferral: Deferral | null;
  /** Null where it reads more than what others may be sent too. */
  readonly sharedUse: SharedUse | null;
  /** Identifies the document and the operation within this process. */
  readonly name: string;
  /** The operation's own name as the log may have it; null where it has none. */
  readonly logName: string | null;
}

interface InvalidDocument extends Pick<PreparedDocument, 'tokens'> {
  readonly kind: 'invalid';
  readonly errors: readonly GraphQLError[];
}
type DocumentResult = PreparedDocument | InvalidDocument;

/** These rules refuse `@defer` where it would not be followed; such a document is answered all the same. */
const ANSWERED_IN_ONE_PIECE = new Set<ValidationRule>([
  DeferStreamDirectiveOnRootFieldRule,
  DeferStreamDirectiveOnValidOperationsRule,
]);
const MAX_BYTES = 32 * 1024 * 1024;
// Measured are 150 to 320 for a token of a prepared document, and nothing for one of a document that is refused.
const BYTES_PER_TOKEN = 280;
const BYTES_PER_CHARACTER = 2;
const BYTES_PER_DOCUMENT = 4_096;
// The remaining errors appear once these are fixed; some kilobytes of a response have room for them.
const MAX_ERRORS = 10;
// A client can name an operation as it likes.
const MAX_LOGGED_NAME_LENGTH = 80;

/** Parses, limits and validates each document once, whichever transport received it. */
export class Documents {
  readonly executors: Executors;
  readonly #options: DocumentOptions;
  readonly #rules: readonly ValidationRule[];
  readonly #sizes: ListSizes;
  readonly #prepared: LRUCache<string, DocumentResult>;

  constructor(options: DocumentOptions) {
    this.#options = options;
    this.executors = options.executors;
    this.#sizes = createListSizes(options.schema);
    this.#rules = [
      ...specifiedRules.filter((rule) => !ANSWERED_IN_ONE_PIECE.has(rule)),
      ...(options.introspection ? [] : [NoSchemaIntrospectionCustomRule]),
    ];
    this.#prepared = new LRUCache({
      maxSize: options.maxBytes ?? MAX_BYTES,
      sizeCalculation: (result, text) => {
        const bytes = BYTES_PER_DOCUMENT + text.length * BYTES_PER_CHARACTER;
        return result.kind === 'invalid' ? bytes : bytes + result.tokens * BYTES_PER_TOKEN;
      },
      dispose: (result) => {
        if (result.kind === 'invalid') return;
        for (const { executor } of result.operations.values()) executor.release();
      },
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
    this.#options.reads?.[known ? 'hit' : 'miss'].add();
    if (known) return known;
    const parsed = parseDocument(text, this.#options.limits.maxTokens);
    const result =
      parsed.kind === 'invalid' ? parsed : this.#check(parsed.document, text, parsed.tokens);
    this.#prepared.set(text, result);
    return result;
  }

  #check(document: DocumentNode, text: string, tokens: number): DocumentResult {
    const invalidFor = (...errors: readonly GraphQLError[]): InvalidDocument => ({
      kind: 'invalid',
      tokens,
      errors,
    });
    const { schema, limits } = this.#options;
    const tooLarge = structureErrors(document, limits, schema);
    if (tooLarge.length > 0) return invalidFor(...tooLarge);
    // Each of thousands of unknown fields would cost more than a known one, to find all else that is wrong.
    const unknown = this.#invalid(document, [FieldsOnCorrectTypeRule]);
    if (unknown.length > MAX_ERRORS)
      return invalidFor(...published(unknown, document, this.#shown));
    const invalid = this.#invalid(document, this.#rules);
    if (invalid.length > 0) {
      const nullMember = nullMemberLiteralError(schema, document);
      return invalidFor(...(nullMember ? [nullMember] : published(invalid, document, this.#shown)));
    }
    const inexact = inexactLiteralError(schema, document);
    if (inexact) return invalidFor(inexact);
    const plain = withoutDefer(document);
    freeTokens(plain);
    const selections = new Selections(schema, plain);
    const operations = this.#operationsOf(selections, plain, text, document);
    const { followed } = selections;
    if (followed > MAX_FOLLOWED)
      return invalidFor(tooComplex('selections', followed, MAX_FOLLOWED));
    return { kind: 'document', tokens, document: plain, operations };
  }

  get #shown(): GraphQLSchema | null {
    return this.#options.introspection ? this.#options.schema : null;
  }

  /** Returns one more than the most errors where there are as many: the last says so. */
  #invalid(document: DocumentNode, rules: readonly ValidationRule[]): readonly GraphQLError[] {
    const { schema, introspection } = this.#options;
    const options = { maxErrors: MAX_ERRORS, hideSuggestions: !introspection };
    return withoutStack(() => validate(schema, document, rules, options));
  }

  /** `original` is the document with its `@defer` directives. */
  #operationsOf(
    selections: Selections,
    document: DocumentNode,
    text: string,
    original: DocumentNode,
  ): Map<string | null, PreparedOperation> {
    const { schema, introspection } = this.#options;
    const digest = hash('sha256', text, 'base64url');
    const ofDocument = documentArguments(schema, document, !introspection);
    const operations = new Map<string | null, PreparedOperation>();
    const deferralOf = document === original ? null : this.#deferrals(original);
    for (const [at, node] of document.definitions.entries()) {
      if (node.kind !== Kind.OPERATION_DEFINITION) continue;
      const facts = factsOf(selections, node, this.#sizes);
      operations.set(node.name?.value ?? null, {
        kind: 'operation',
        node,
        args: new OperationArguments(ofDocument, node),
        executor: this.executors.create(selections, node),
        deferral: node.operation === OperationTypeNode.QUERY ? (deferralOf?.(at) ?? null) : null,
        sharedUse: sharedUseOf(facts.marks, document, node),
        ...facts,
        name: `${digest} ${node.name?.value ?? ''}`,
        logName: node.name ? redact(node.name.value.slice(0, MAX_LOGGED_NAME_LENGTH)) : null,
      });
    }
    return operations;
  }

  /** Returns the deferral of the operation that is the definition at an index. */
  #deferrals(document: DocumentNode): (at: number) => Deferral {
    const { schema, introspection } = this.#options;
    const ofDocument = documentArguments(schema, document, !introspection);
    const { rest, variables } = withoutDeferred(document);
    const selections = new Selections(schema, rest);
    const nodeAt = ({ definitions }: DocumentNode, at: number) =>
      definitions[at] as OperationDefinitionNode;
    return (at) => ({
      args: new OperationArguments(ofDocument, nodeAt(document, at)),
      plans: factsOf(selections, nodeAt(rest, at), this.#sizes).plans,
      variables,
    });
  }
}

/** `schema` is null where it is not to be disclosed. */
function published(
  invalid: readonly GraphQLError[],
  document: DocumentNode,
  schema: GraphQLSchema | null,
): GraphQLError[] {
  // The error by which the library says that it stopped early has no location and concerns no part of the document.
  const found = invalid.filter(({ nodes }) => nodes !== undefined);
  if (found.length === 0) {
    const message =
      'The document takes too much work to check: its selections repeat fields and fragments too often.';
    return [requestError('QUERY_TOO_COMPLEX', message)];
  }
  const literals = literalsOf(document);
  return found.map((error) => {
    const message = redactTexts(error.message, literals);
    const shown = schema === null ? message : withEnumValues(message, schema);
    return located(requestError('GRAPHQL_VALIDATION_FAILED', shown), error);
  });
}
