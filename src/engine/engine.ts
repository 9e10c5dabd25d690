import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  type OperationTypeNode,
  type ValidatedExecutionArgs,
  validateExecutionArgs,
} from 'graphql';
import type { Caller } from '../gateway/caller.ts';
import { mapStream } from '../lib/map-stream.ts';
import { Context } from '../schema/context.ts';
import { requestError } from '../schema/public-error.ts';
import type { Services } from '../schema/services.ts';
import type { Documents, PreparedDocument, PreparedOperation } from './documents.ts';
import type { Publisher } from './publisher.ts';
import { type GraphQLRequest, readRequest } from './request.ts';
import { strikeTexts, textsIn } from './strike-literals.ts';

export interface EngineOptions {
  readonly schema: GraphQLSchema;
  readonly documents: Documents;
  readonly services: Services;
  readonly publisher: Publisher;
  readonly suggestions: boolean;
}

/** Who comes through which door. */
export interface Visit {
  readonly caller: Caller;
  readonly requestId: string;
  /** GET must be safe to repeat, prefetch and link to. */
  readonly mayMutate: boolean;
}

/** Nothing was carried out: the request itself is wrong. */
export interface Refused {
  readonly ready: false;
  readonly status: number;
  /** A request as the protocol wants it, whose document or variables are wrong. */
  readonly isWellFormed: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly errors: readonly GraphQLError[];
}

export interface Ready {
  readonly ready: true;
  readonly operation: OperationTypeNode;
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operationName: string | null;
  execute(): ExecutionResult | Promise<ExecutionResult>;
  /** Ends by throwing where the viewer's token does: each transport has its own way to say so. */
  subscribe(): Promise<AsyncIterable<ExecutionResult> | ExecutionResult>;
  /** Why a subscription ended, as a result of its own. */
  lastWord(error: unknown): ExecutionResult;
}

/** A document's life, the same for every transport: checked, prepared once, run many times. */
export class Engine {
  readonly #options: EngineOptions;

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  open(params: unknown, visit: Visit): Ready | Refused {
    const request = readRequest(params);
    if (request instanceof GraphQLError) return { ...refused([request]), isWellFormed: false };
    const prepared = this.#options.documents.prepare(request.query);
    if ('errors' in prepared) return refused(prepared.errors);
    const operation = pickOperation(prepared, request.operationName);
    if (operation instanceof GraphQLError) return refused([operation]);
    if (operation.node.operation === 'mutation' && !visit.mayMutate) {
      const error = requestError('BAD_USER_INPUT', 'Mutations are sent by POST.');
      return { ...refused([error], 405), headers: { allow: 'POST' } };
    }
    return this.#ready(request, prepared, operation, visit);
  }

  #ready(
    request: GraphQLRequest,
    { document }: PreparedDocument,
    { node, compiled }: PreparedOperation,
    visit: Visit,
  ): Ready | Refused {
    const { schema, services, publisher, suggestions } = this.#options;
    const context = new Context(services, visit.caller, visit.requestId);
    const args = {
      schema,
      document,
      contextValue: context,
      operationName: node.name?.value ?? null,
      variableValues: request.variables,
      hideSuggestions: !suggestions,
    };
    const validated = validateExecutionArgs(args);
    if (!('schema' in validated)) {
      const texts = textsIn(request.variables);
      return refused(
        validated.map((error) => requestError('BAD_USER_INPUT', strikeTexts(error.message, texts))),
      );
    }
    const publish = (result: ExecutionResult) => publisher.publish(result, context);
    return {
      ready: true,
      lastWord: (error) => publish({ errors: [asGraphQLError(error)] }),
      operation: node.operation,
      schema,
      document,
      operationName: args.operationName,
      execute() {
        const result = compiled.execute(validated);
        return result instanceof Promise ? result.then(publish) : publish(result);
      },
      async subscribe() {
        const events = await sourceOf(validated);
        if (!(Symbol.asyncIterator in events)) return publish(events);
        return mapStream(events, {
          value: async (event) => {
            const args = { ...validated, rootValue: event };
            return publish(await compiled.execute(args));
          },
        });
      },
    };
  }
}

function refused(errors: readonly GraphQLError[], status = 400): Refused {
  return { ready: false, status, isWellFormed: true, headers: {}, errors };
}

function pickOperation(
  { operations }: PreparedDocument,
  name: string | null,
): PreparedOperation | GraphQLError {
  const [only, ...others] = operations.values();
  if (name === null && only && others.length === 0) return only;
  const named = name === null ? undefined : operations.get(name);
  if (named) return named;
  const message =
    name === null
      ? 'The document has several operations: `operationName` says which one is meant.'
      : 'The document has no operation of that name.';
  return requestError('GRAPHQL_VALIDATION_FAILED', message);
}

/** The stream of events, or the result that tells why there is none. */
async function sourceOf(
  args: ValidatedExecutionArgs,
): Promise<AsyncIterable<unknown> | ExecutionResult> {
  return createSourceEventStream(args as Parameters<typeof createSourceEventStream>[0]);
}

function asGraphQLError(error: unknown): GraphQLError {
  if (error instanceof GraphQLError) return error;
  const originalError = error instanceof Error ? error : new Error(String(error));
  return new GraphQLError(originalError.message, { originalError });
}
