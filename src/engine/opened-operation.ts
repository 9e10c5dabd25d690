import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  type OperationTypeNode,
  type ValidatedExecutionArgs,
  type VariableValues,
} from 'graphql';
import type { ClientKey, ClientKeys } from '../domain/auth/client-key.ts';
import type { Caller } from '../gateway/caller.ts';
import type { Eventually } from '../lib/eventually.ts';
import type { FairScheduler } from '../lib/fair-scheduler.ts';
import { PullStream } from '../lib/pull-stream.ts';
import type { OperationTrace, RequestTrace } from '../lib/tracing/tracing.ts';
import type { CostQuota } from '../plugins/cost/cost-quota.ts';
import { Meter } from '../plugins/cost/meter.ts';
import type { PreparedOperation } from '../plugins/documents/documents.ts';
import type { CatalogUse } from '../plugins/documents/sharing-marks.ts';
import type { Publisher } from '../plugins/errors/publisher.ts';
import { waiting } from '../plugins/limits/request-quota.ts';
import type { SubscriptionSlots } from '../plugins/limits/subscription-slots.ts';
import type { FollowedEvents } from '../plugins/live/delivery.ts';
import type { EventResults } from '../plugins/live/event-results.ts';
import { tooManySubscriptions } from '../plugins/request.ts';
import { answerFromCatalog, type CatalogAnswer } from '../plugins/response-cache/catalog-answer.ts';
import type { ResponseCache } from '../plugins/response-cache/response-cache.ts';
import { type JsonText, jsonBytes, jsonText } from '../plugins/results/json-text.ts';
import { tracedResult } from '../plugins/traces/operation-trace.ts';
import { Context } from '../schema/context.ts';
import type { RequestSummary } from '../schema/request-summary.ts';
import type { Services } from '../schema/services.ts';

const CROWDED_RETRY_SECONDS = 5;

/** An incoming request: its caller, and the transport's restrictions. */
export interface IncomingRequest {
  readonly caller: Caller;
  readonly requestId: string;
  readonly summary: RequestSummary;
  /** GET must be safe to repeat, prefetch and link to. */
  readonly mayMutate: boolean;
  /** Absent where tracing is off. */
  readonly trace?: RequestTrace | null;
}

export interface Ready {
  readonly ready: true;
  readonly headers: Readonly<Record<string, string>>;
  readonly operation: OperationTypeNode;
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operationName: string | null;
  /** True when it reads the catalog alone, so that the response cache can answer it. */
  readonly readsCatalogOnly: boolean;
  /** Where it is costly, lists of the result may be serialized already: only `text` reads them. */
  execute(): Eventually<ExecutionResult>;
  /** Serializes the result of `execute` as JSON. */
  text(result: ExecutionResult): Eventually<JsonText>;
  /** True when its answer is completed and serialized in slices. */
  readonly isCostly: boolean;
  answerFromCatalog(ifNoneMatch: string | undefined): Eventually<CatalogAnswer | ExecutionResult>;
  /** The last event carries the reason of an early end, unless `reportsEnd` reports it another way. */
  subscribe(reportsEnd?: (error: unknown) => boolean): Promise<Subscribed>;
}

/** The events; or a result where there are none, and nothing where the transport has said why. */
export type Subscribed = FollowedEvents | AsyncGenerator<never> | ExecutionResult;

/** An incoming request, the client it counts against, and the response headers of that client's limits. */
export interface RequestContext {
  readonly incoming: IncomingRequest;
  readonly client: ClientKey;
  readonly headers: Readonly<Record<string, string>>;
}

export interface OperationParts {
  readonly schema: GraphQLSchema;
  readonly services: Services;
  readonly clients: ClientKeys;
  readonly costs: CostQuota;
  readonly scheduler: FairScheduler;
  readonly maxCost: number;
  readonly publisher: Publisher;
  readonly subscriptions: SubscriptionSlots;
  readonly responses: ResponseCache;
  readonly eventResults: EventResults;
}

/** An operation to execute, its variables and its estimated cost. */
export interface ExecutionInput {
  readonly document: DocumentNode;
  readonly prepared: PreparedOperation;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly values: VariableValues;
  readonly cost: number;
  /** The lowest age limit of its fields, in seconds. */
  readonly ageLimit: number;
  /** Absent where tracing is off. */
  readonly trace?: OperationTrace;
}

/** A class, because most methods are never called and closures would be created for each request. */
export class OpenedOperation implements Ready {
  readonly ready = true;
  readonly #parts: OperationParts;
  readonly #requestContext: RequestContext;
  readonly #input: ExecutionInput;
  readonly #context: Context;
  readonly #meter: Meter;

  constructor(parts: OperationParts, requestContext: RequestContext, input: ExecutionInput) {
    this.#parts = parts;
    this.#requestContext = requestContext;
    this.#input = input;
    const { caller, requestId, summary } = requestContext.incoming;
    this.#context = new Context(parts.services, caller, requestId, summary, input.ageLimit);
    this.#context.cost = input.cost;
    this.#meter = new Meter({
      maxFields: parts.maxCost,
      scheduler: parts.scheduler,
      client: requestContext.client.key,
      estimate: input.cost,
    });
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#requestContext.headers;
  }

  get operation(): OperationTypeNode {
    return this.#input.prepared.node.operation;
  }

  get schema(): GraphQLSchema {
    return this.#parts.schema;
  }

  get document(): DocumentNode {
    return this.#input.document;
  }

  get operationName(): string | null {
    return this.#input.prepared.node.name?.value ?? null;
  }

  get isCostly(): boolean {
    return this.#meter.isCostly;
  }

  get readsCatalogOnly(): boolean {
    return this.#input.prepared.catalogUse !== null;
  }

  execute(): Eventually<ExecutionResult> {
    const { trace } = this.#input;
    return trace === undefined ? this.#result() : tracedResult(trace, () => this.#result());
  }

  #result(): Eventually<ExecutionResult> {
    const result = this.#run();
    return result instanceof Promise
      ? result.then((settled) => this.#publish(settled))
      : this.#publish(result);
  }

  #run(): Eventually<ExecutionResult> {
    const { scheduler, client, isCostly } = this.#meter;
    // A hundred of them may be received in one turn of the event loop, so each waits for its own turn.
    if (!isCostly) return this.#execute();
    if (scheduler.isCrowded(client)) {
      return { errors: [waiting(CROWDED_RETRY_SECONDS, 'costly operations').error] };
    }
    return scheduler.run(client, () => this.#executeCostly());
  }

  /** Hundreds may have been admitted before the first of them was charged. */
  #executeCostly(): Eventually<ExecutionResult> {
    const full = this.#parts.costs.refusal(this.#requestContext.client);
    return full ? { errors: [full.error] } : this.#execute();
  }

  #execute(): Eventually<ExecutionResult> {
    const result = this.#input.prepared.compiled.execute(this.#args(), this.#meter);
    return result instanceof Promise
      ? result.then((settled) => this.#executed(settled))
      : this.#executed(result);
  }

  #executed(result: ExecutionResult): ExecutionResult {
    this.#charge(this.#meter.fields);
    return result;
  }

  #charge(fields: number): void {
    this.#parts.costs.charge(this.#requestContext.client, fields);
    this.#context.fields = fields;
  }

  text(result: ExecutionResult): Eventually<JsonText> {
    return jsonText(result, this.#meter);
  }

  #bytes(result: ExecutionResult): Eventually<Buffer> {
    const text = this.text(result);
    return text instanceof Promise
      ? text.then((written) => jsonBytes(written, this.#meter))
      : jsonBytes(text, this.#meter);
  }

  answerFromCatalog(ifNoneMatch: string | undefined): Eventually<CatalogAnswer | ExecutionResult> {
    const { catalogUse } = this.#input.prepared;
    if (catalogUse === null) return this.execute();
    const { trace } = this.#input;
    const answer = () => this.#catalogAnswer(catalogUse, ifNoneMatch);
    return trace === undefined ? answer() : tracedResult(trace, answer);
  }

  #catalogAnswer(
    use: CatalogUse,
    ifNoneMatch: string | undefined,
  ): Eventually<CatalogAnswer | ExecutionResult> {
    return answerFromCatalog(
      {
        cache: this.#parts.responses,
        use,
        // Coerced values: variables that the document does not use make no difference.
        question: `${this.#input.prepared.name} ${JSON.stringify(this.#input.values.coerced)}`,
        read: () => this.#context.scope.catalog(),
        run: () => this.#run(),
        isPersonal: () => this.#context.isPersonal,
        publish: (result) => this.#publish(result),
        bytes: (result) => this.#bytes(result),
        // A cache hit is charged the estimate, as a measure of the bytes that are sent.
        sent: () => this.#charge(this.#input.cost),
        extensions: () => this.#parts.publisher.extensions(this.#context),
      },
      ifNoneMatch,
    );
  }

  subscribe(reportsEnd: (error: unknown) => boolean = () => false): Promise<Subscribed> {
    const { trace } = this.#input;
    const start = () => this.#subscribe(reportsEnd);
    return trace === undefined ? start() : Promise.resolve(tracedResult(trace, start));
  }

  async #subscribe(reportsEnd: (error: unknown) => boolean): Promise<Subscribed> {
    const { incoming, client } = this.#requestContext;
    const release = this.#parts.subscriptions.take(client, incoming.caller.signal);
    if (release === null) return this.#publish({ errors: tooManySubscriptions().errors });
    const args = this.#args();
    const events = await sourceOf(args);
    if (!(events instanceof PullStream)) {
      release();
      if (!reportsEnd(causeOf(events))) return this.#publish(events);
      this.#parts.publisher.ended(causeOf(events), this.#context);
      return nothing();
    }
    const { prepared, cost } = this.#input;
    const { requestId, summary } = incoming;
    // The gateway calls of an event do not belong to the trace of a request that ended long ago.
    const { trace: _, ...caller } = incoming.caller;
    // By now the subscription has proved its token, so its account is known.
    const { key } = this.#parts.clients.of(caller);
    // Each event has a context of its own; this one must not live as long as the subscription.
    const live = {
      prepared,
      args: { ...args, contextValue: null },
      cost,
      caller,
      requestId,
      summary,
      key,
      expected: cost,
      reserved: 0,
    };
    return this.#parts.eventResults.follow(events, live, { reportsEnd, ended: release });
  }

  #args(): ValidatedExecutionArgs {
    const { prepared, values, variables } = this.#input;
    return prepared.args.of({ context: this.#context, values, variables });
  }

  #publish(result: ExecutionResult): ExecutionResult {
    return this.#parts.publisher.publish(result, this.#context);
  }
}

/** The event stream, or a result with the error: the executor throws nothing. */
async function sourceOf(
  args: ValidatedExecutionArgs,
): Promise<PullStream<unknown> | ExecutionResult> {
  const source = await createSourceEventStream(
    args as Parameters<typeof createSourceEventStream>[0],
  );
  if (source instanceof PullStream || !(Symbol.asyncIterator in source)) return source;
  throw new TypeError('a subscription field of the schema must return a PullStream');
}

function causeOf({ errors = [] }: ExecutionResult): unknown {
  return errors[0]?.originalError;
}

async function* nothing(): AsyncGenerator<never> {}
