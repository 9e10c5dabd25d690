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
import { Context } from '../schema/context.ts';
import { requestError } from '../schema/public-error.ts';
import type { Services } from '../schema/services.ts';
import { evaluate } from './amount.ts';
import { blamedArgument } from './blamed-argument.ts';
import { answerFromCatalog, type CatalogAnswer } from './catalog-answer.ts';
import type { ClientKey, ClientKeys } from './client-key.ts';
import type { DocumentSource } from './document-source.ts';
import type { PreparedDocument, PreparedOperation } from './documents.ts';
import { EventResults } from './event-results.ts';
import type { HeldAnswers } from './held-answers.ts';
import { tooComplex } from './limits.ts';
import type { Publisher } from './publisher.ts';
import { type GraphQLRequest, readRequest } from './request.ts';
import { type Quota, type RequestQuota, waiting } from './request-quota.ts';
import { strikeTexts, textsIn } from './strike-literals.ts';
import type { SubscriptionSlots } from './subscription-slots.ts';
import { variablesError } from './variable-limits.ts';

export interface EngineOptions {
  readonly schema: GraphQLSchema;
  readonly documents: DocumentSource;
  readonly clients: ClientKeys;
  readonly quota: RequestQuota;
  readonly subscriptions: SubscriptionSlots;
  readonly maxCost: number;
  readonly services: Services;
  readonly publisher: Publisher;
  readonly suggestions: boolean;
  readonly held: HeldAnswers;
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
  readonly headers: Readonly<Record<string, string>>;
  readonly operation: OperationTypeNode;
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operationName: string | null;
  execute(): ExecutionResult | Promise<ExecutionResult>;
  /** For what reads the catalog alone; null for all else. */
  readonly fromCatalog:
    | ((
        ifNoneMatch: string | undefined,
      ) => CatalogAnswer | ExecutionResult | Promise<CatalogAnswer | ExecutionResult>)
    | null;
  /** Why it ends, its last event says; unless `tellsEnd`, told of the reason, has another way. */
  subscribe(
    tellsEnd?: (error: unknown) => boolean,
  ): Promise<AsyncIterable<ExecutionResult> | ExecutionResult>;
}

/** A visit, whom it counts against, and how that client stands. */
interface Arrival {
  readonly visit: Visit;
  readonly client: ClientKey;
  readonly headers: Readonly<Record<string, string>>;
}

// Each prints the value that it is about.
const MAX_VARIABLE_ERRORS = 3;
// A client that holds this many has to close some before it may have more.
const SUBSCRIPTIONS_RETRY_SECONDS = 5;

/** A document's life, the same for every transport: checked, prepared once, run many times. */
export class Engine {
  readonly #options: EngineOptions;
  readonly #eventResults: EventResults;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#eventResults = new EventResults(options.services, options.publisher);
  }

  /** At once, but where the count of requests is kept elsewhere. */
  open(params: unknown, visit: Visit): Ready | Refused | Promise<Ready | Refused> {
    const client = this.#options.clients.of(visit.caller);
    const taken = this.#options.quota.take(client);
    return taken instanceof Promise
      ? taken.then((quota) => this.#admit(params, visit, client, quota))
      : this.#admit(params, visit, client, taken);
  }

  #admit(
    params: unknown,
    visit: Visit,
    client: ClientKey,
    { error, headers }: Quota,
  ): Ready | Refused {
    if (error) return { ...refused([error], 429), headers };
    const opened = this.#open(params, { visit, client, headers });
    return opened.ready ? opened : { ...opened, headers: { ...headers, ...opened.headers } };
  }

  #open(params: unknown, arrival: Arrival): Ready | Refused {
    const { visit, client } = arrival;
    const request = readRequest(params);
    if (request instanceof GraphQLError) return { ...refused([request]), isWellFormed: false };
    // Before anything looks at the values.
    const unfit = variablesError(request.variables);
    if (unfit) return refused([unfit]);
    const prepared = this.#options.documents.find(request);
    if ('errors' in prepared) return refused(prepared.errors);
    const operation = pickOperation(prepared, request.operationName);
    if (operation instanceof GraphQLError) return refused([operation]);
    if (operation.node.operation === 'mutation' && !visit.mayMutate) {
      const error = requestError('BAD_USER_INPUT', 'Mutations are sent by POST.');
      return { ...refused([error], 405), headers: { allow: 'POST' } };
    }
    if (operation.node.operation === 'subscription' && this.#options.subscriptions.isFull(client)) {
      return tooManySubscriptions();
    }
    return this.#ready(request, prepared, operation, arrival);
  }

  #ready(
    request: GraphQLRequest,
    { document }: PreparedDocument,
    prepared: PreparedOperation,
    { visit, client, headers }: Arrival,
  ): Ready | Refused {
    const { schema, services, publisher, suggestions, held, maxCost, subscriptions } =
      this.#options;
    const { node, compiled, catalogUse, name } = prepared;
    const eventResults = this.#eventResults;
    const context = new Context(services, visit.caller, visit.requestId);
    const args = {
      schema,
      document,
      contextValue: context,
      operationName: node.name?.value ?? null,
      variableValues: request.variables,
      hideSuggestions: !suggestions,
      options: { maxCoercionErrors: MAX_VARIABLE_ERRORS },
    };
    const validated = validateExecutionArgs(args);
    if (!('schema' in validated)) {
      const texts = textsIn(request.variables);
      return refused(
        validated.map(({ message }) => {
          const argument = blamedArgument(message, document);
          const more = argument === null ? {} : { argument };
          return requestError('BAD_USER_INPUT', strikeTexts(message, texts), more);
        }),
      );
    }
    const cost = evaluate(prepared.cost, {
      variables: request.variables,
      heldInstruments: () => services.catalogs.heldSize,
    });
    if (cost > maxCost) return refused([tooComplex('MAX_COST', cost, maxCost)]);
    context.cost = cost;
    const publish = (result: ExecutionResult) => publisher.publish(result, context);
    const execute = () => {
      const result = compiled.execute(validated);
      return result instanceof Promise ? result.then(publish) : publish(result);
    };
    const fromCatalog =
      catalogUse &&
      ((ifNoneMatch: string | undefined) =>
        answerFromCatalog(
          {
            held,
            use: catalogUse,
            // As they were read: what the document does not ask for makes no difference.
            question: `${name} ${JSON.stringify(validated.variableValues.coerced)}`,
            read: () => context.scope.catalog(),
            execute,
            extensions: () => publisher.extensions(context),
          },
          ifNoneMatch,
        ));
    return {
      ready: true,
      headers,
      execute,
      fromCatalog,
      operation: node.operation,
      schema,
      document,
      operationName: args.operationName,
      async subscribe(tellsEnd = () => false) {
        const release = subscriptions.take(client, visit.caller.signal);
        if (release === null) return { errors: tooManySubscriptions().errors };
        const events = await sourceOf(validated).catch(releasing(release));
        if (!(Symbol.asyncIterator in events)) {
          release();
          return tellsEnd(causeOf(events)) ? nothing() : publish(events);
        }
        const { caller, requestId } = visit;
        // Each event has a context of its own; this one must not live as long as the subscription.
        const args = { ...validated, contextValue: null };
        const live = { prepared, args, cost, caller, requestId };
        return eventResults.follow(events, live, { tellsEnd, ended: release });
      },
    };
  }
}

function refused(errors: readonly GraphQLError[], status = 400): Refused {
  return { ready: false, status, isWellFormed: true, headers: {}, errors };
}

function tooManySubscriptions(): Refused {
  const { error, headers } = waiting(SUBSCRIPTIONS_RETRY_SECONDS);
  return { ...refused([error], 429), headers };
}

function releasing(release: () => void): (error: unknown) => never {
  return (error) => {
    release();
    throw error;
  };
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

function causeOf({ errors = [] }: ExecutionResult): unknown {
  return errors[0]?.originalError;
}

async function* nothing(): AsyncGenerator<never> {}
