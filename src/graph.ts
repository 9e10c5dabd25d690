import { envelop, type Plugin, useSchema } from '@envelop/core';
import type {
  DocumentNode,
  ExecutionArgs,
  ExecutionResult,
  GraphQLError,
  GraphQLSchema,
  OperationTypeNode,
} from 'graphql';
import type { ClientOf } from './domain/auth/proof.ts';
import type { Caller } from './gateway/caller.ts';
import { type EventContext, GraphContext } from './graph-context.ts';
import { after, type Eventually } from './lib/eventually.ts';
import type { FairScheduler } from './lib/fair-scheduler.ts';
import type { Limiter } from './lib/limits/limiter.ts';
import { useCostLimit } from './plugins/cost/use-cost-limit.ts';
import type { Documents } from './plugins/documents/documents.ts';
import { usePreparedDocuments } from './plugins/documents/use-prepared-documents.ts';
import { useVariables } from './plugins/documents/use-variables.ts';
import { type ErrorCodes, type Failing, useErrorCodes } from './plugins/errors/error-codes.ts';
import { useCompiledExecution } from './plugins/execution/use-compiled-execution.ts';
import { useFairTurns } from './plugins/execution/use-fair-turns.ts';
import { currentClient, useClientLimits, useReserve } from './plugins/limits/use-client-limits.ts';
import { useMemoryLimit } from './plugins/limits/use-memory-limit.ts';
import { useTransportRules } from './plugins/limits/use-transport-rules.ts';
import type { EventPace } from './plugins/live/event-pace.ts';
import { type Subscribed, useLiveResults } from './plugins/live/use-live-results.ts';
import type { Operation, OperationRecord, TransportContext } from './plugins/operation.ts';
import { useParams } from './plugins/params/use-params.ts';
import { createAdmission, type GraphPlugin, type OtherPlugin } from './plugins/plugin.ts';
import { type ReceiptOf, type RunCost, useReceipts } from './plugins/receipts/use-receipts.ts';
import { type Refusal, refusalOf } from './plugins/refusal.ts';
import type { ResponseCache } from './plugins/response-cache/response-cache.ts';
import { useResponseCache } from './plugins/response-cache/use-response-cache.ts';
import { type TraceOptions, useTraces } from './plugins/traces/use-traces.ts';
import {
  type TrustedDocumentsOptions,
  useTrustedDocuments,
} from './plugins/trusted-documents/use-trusted-documents.ts';
import type { CallRecord } from './schema/context.ts';
import type { Services } from './schema/services.ts';

export interface GraphOptions {
  readonly schema: GraphQLSchema;
  readonly services: Services;
  readonly limiter: Limiter;
  readonly clientOf: ClientOf;
  /** The hash of a token that is surely no forged one; null where there is none. */
  readonly knownTokenOf: (caller: Caller) => string | null;
  readonly trusted: TrustedDocumentsOptions;
  readonly documents: Documents;
  readonly maxCost: number;
  readonly scheduler: FairScheduler;
  readonly pace: EventPace;
  readonly responses: ResponseCache;
  readonly isMemoryShort: () => boolean;
  /** Which error has which code is in src/schema/public-error.ts. */
  readonly codes: ErrorCodes;
  /** Null where tracing is off. */
  readonly traces: TraceOptions | null;
  /** True when responses report what they cost behind the facade. */
  readonly receipts: boolean;
  /** Other people's. */
  readonly plugins: readonly OtherPlugin[];
}

/**
 * The plugins of every transport, which decide how an operation is handled. Each one's `onAdmit` runs first, in this order, and
 * may refuse; then envelop, or yoga, runs their other hooks in this order. Functions that execute are
 * wrapped: the last one to wrap is the first to run.
 */
function pluginsOf(options: GraphOptions): (GraphPlugin | Plugin)[] {
  const { schema, documents, scheduler, codes, limiter, maxCost, traces, pace } = options;
  const clientBy = ({ caller }: GraphContext) => options.clientOf(caller);
  const clientOf = (context: GraphContext) => currentClient(context, limiter, clientBy);
  const receiptOf: ReceiptOf<GraphContext> = (context, run) => context.receipt(run);
  return [
    useSchema(schema),
    // These two execute, and all below wraps them: queries and mutations, by compiled code once they recur …
    useCompiledExecution(),
    // … and the events of subscriptions, each once for all subscribers who may share its result.
    useLiveResults<GraphContext, EventContext>({
      scheduler,
      pace,
      maxCost,
      codes,
      limiter,
      clientOf(context) {
        clientOf(context);
        const { caller } = context;
        return () => options.clientOf(caller);
      },
      eventContexts: (context) => context.eventContexts(),
      publish: publisherOf(options),
    }),
    // Errors of results get their codes, before any other plugin sees them. A refusal has its own.
    useErrorCodes(codes),
    ...(traces === null ? [] : [useTraces(traces)]),
    // Admission, the cheapest first: nothing of a request is read before its client may send one.
    useClientLimits(limiter, clientBy),
    useParams(),
    useTrustedDocuments(options.trusted),
    useReserve<GraphContext>(limiter, ({ caller }) => options.knownTokenOf(caller)),
    usePreparedDocuments({ documents, scheduler }),
    useTransportRules(),
    useVariables(),
    useCostLimit<GraphContext>({ maxCost, scheduler, inputsOf: (context) => context.costInputs() }),
    useMemoryLimit(options.isMemoryShort),
    // A cached response waits for no turn.
    useFairTurns(scheduler, limiter, clientOf),
    useResponseCache<GraphContext>({
      cache: options.responses,
      validityFor: (context) => context.catalogValidity(),
      // A hit is charged the estimate, as a measure of the bytes that are sent.
      onHit: (context) => void limiter.spend('fields', clientOf(context), context.operation.cost),
      isPersonal: (context) => context.isPersonal,
    }),
    ...(options.receipts ? [useReceipts(receiptOf)] : []),
    ...(options.plugins as readonly Plugin[]),
  ];
}

/** Masks an event's result, and adds its receipt, as plugins do for all other results. */
function publisherOf({ codes, receipts }: GraphOptions) {
  return (result: ExecutionResult, failing: Failing, context: EventContext, run: RunCost) => {
    if (!result.errors && !receipts) return result;
    return {
      ...result,
      ...(result.errors && { errors: codes.masked(result.errors, failing) }),
      ...(receipts && { extensions: context.receipt(run) }),
    };
  };
}

/** Envelop's functions for one operation; they return a promise only where a plugin waits. */
interface Enveloped {
  parse(query: string): DocumentNode;
  validate(schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[];
  contextFactory(): Eventually<unknown>;
  execute(args: ExecutionArgs): Eventually<ExecutionResult>;
  subscribe(args: ExecutionArgs): Eventually<Subscribed>;
}

export class Graph {
  readonly schema: GraphQLSchema;
  /** Initialized, for yoga. */
  readonly plugins: readonly Plugin[];
  /** Yoga calls it from `onParams`, other transports by `open`. */
  readonly admit: (context: GraphContext) => Eventually<Refusal | null>;
  readonly #services: Services;
  readonly #codes: ErrorCodes;
  readonly #getEnveloped: (context: GraphContext) => Enveloped;

  constructor(options: GraphOptions) {
    const { schema, services, codes } = options;
    this.schema = schema;
    const plugins = pluginsOf(options);
    this.#services = services;
    this.#codes = codes;
    this.admit = createAdmission(plugins, ({ errors }, { transport }) =>
      codes.refused(errors, transport.record),
    );
    const getEnveloped = envelop({ plugins });
    // Some add others when they are initialized, which happens once.
    this.plugins = getEnveloped._plugins.map(({ onPluginInit: _, ...plugin }) => plugin);
    this.#getEnveloped = getEnveloped as unknown as (context: GraphContext) => Enveloped;
  }

  context(caller: Caller, transport: TransportContext<OperationRecord & CallRecord>): GraphContext {
    return new GraphContext(this.#services, caller, transport);
  }

  /** Counts the errors of a request that a transport refuses before it is opened. */
  refused(errors: readonly GraphQLError[], record: OperationRecord): void {
    this.#codes.refused(errors, record);
  }

  /** Does what yoga's handler does, synchronously unless a plugin has to wait. */
  open(context: GraphContext): Eventually<EnvelopedOperation | Refusal> {
    return after(this.admit(context), (refusal) => refusal ?? this.#enter(context));
  }

  #enter(context: GraphContext): Eventually<EnvelopedOperation | Refusal> {
    const { operation } = context;
    const { params } = operation;
    const failed = (error: unknown): Refusal => {
      const refusal = refusalOf(error);
      if (refusal === null) throw error;
      this.#codes.refused(refusal.errors, operation.transport.record);
      return refusal;
    };
    try {
      const enveloped = this.#getEnveloped(context);
      const document = enveloped.parse(params.query ?? '');
      const errors = enveloped.validate(this.schema, document);
      if (errors.length > 0) return { ...failed(new AggregateError(errors)), status: 400 };
      const ready = (contextValue: unknown) =>
        new EnvelopedOperation(enveloped, operation, {
          schema: this.schema,
          document,
          contextValue,
          variableValues: params.variables,
          operationName: params.operationName,
        });
      const building = enveloped.contextFactory();
      return building instanceof Promise ? building.then(ready).catch(failed) : ready(building);
    } catch (error) {
      return failed(error);
    }
  }
}

/** An operation that is admitted, parsed and validated. */
export class EnvelopedOperation {
  readonly operation: Operation;
  /** The arguments by envelop's and graphql-ws's names. */
  readonly args: ExecutionArgs;
  readonly #enveloped: Enveloped;

  constructor(enveloped: Enveloped, operation: Operation, args: ExecutionArgs) {
    this.#enveloped = enveloped;
    this.operation = operation;
    this.args = args;
  }

  get type(): OperationTypeNode {
    return this.operation.prepared.node.operation;
  }

  execute(): Eventually<ExecutionResult> {
    return this.#enveloped.execute(this.args);
  }

  subscribe(): Eventually<Subscribed> {
    return this.#enveloped.subscribe(this.args);
  }
}
