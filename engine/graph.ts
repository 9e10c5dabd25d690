import { envelop, type Plugin, useSchema } from '@envelop/core';
import type {
  DocumentNode,
  ExecutionArgs,
  ExecutionResult,
  GraphQLError,
  GraphQLSchema,
  OperationTypeNode,
} from 'graphql';
import type { RequestCaller } from '../lib/caller.ts';
import { after, type Eventually } from '../lib/eventually.ts';
import type { FairScheduler } from '../lib/fair-scheduler.ts';
import type { Limiter } from '../lib/limits/limiter.ts';
import { Operation, type TransportContext } from './admission/operation.ts';
import { createAdmission, type GraphPlugin, type OperationContext } from './admission/plugin.ts';
import { type Fallback, OF_DOCUMENT, type Refusal } from './admission/refusal.ts';
import { useCostLimit } from './cost/use-cost-limit.ts';
import type { Documents } from './documents/documents.ts';
import { usePreparedDocuments } from './documents/use-prepared-documents.ts';
import { useVariables } from './documents/use-variables.ts';
import { type ErrorCodes, useErrorCodes } from './errors/error-codes.ts';
import { useCompiledExecution } from './execution/use-compiled-execution.ts';
import { useFairTurns } from './execution/use-fair-turns.ts';
import { useClientLimits, useReserve } from './limits/use-client-limits.ts';
import { useMemoryLimit } from './limits/use-memory-limit.ts';
import { useTransportRules } from './limits/use-transport-rules.ts';
import type { EventPace } from './live/event-pace.ts';
import { type Subscribed, useLiveResults } from './live/use-live-results.ts';
import { useParams } from './params/use-params.ts';
import { PluginErrorBoundary } from './plugins/error-boundary.ts';
import type { OpenPlugins } from './plugins/open-plugins.ts';
import { PluginView } from './plugins/plugin-view.ts';
import { useReceipts } from './receipts/use-receipts.ts';
import type { ResponseCache } from './response-cache/response-cache.ts';
import { useResponseCache } from './response-cache/use-response-cache.ts';
import { useTraces } from './traces/use-traces.ts';
import {
  type TrustedDocumentsOptions,
  useTrustedDocuments,
} from './trusted-documents/use-trusted-documents.ts';

export interface GraphOptions {
  readonly schema: GraphQLSchema;
  /** Makes the context with which the operation's resolvers read. */
  readonly createContext: (caller: RequestCaller, operation: Operation) => OperationContext;
  readonly limiter: Limiter;
  readonly trusted: TrustedDocumentsOptions;
  readonly documents: Documents;
  readonly maxCost: number;
  readonly scheduler: FairScheduler;
  readonly pace: EventPace;
  readonly responses: ResponseCache;
  readonly isMemoryShort: () => boolean;
  readonly codes: ErrorCodes;
  readonly traces: boolean;
  /** True when responses report what they cost behind the facade. */
  readonly receipts: boolean;
  /** Other people's. */
  readonly plugins: OpenPlugins;
}

/**
 * The plugins of every transport, which decide how an operation is handled. Each one's `onAdmit` runs first, in this order, and
 * may refuse; then envelop, or yoga, runs their other hooks in this order. Functions that execute are
 * wrapped: the last one to wrap is the first to run.
 */
function pluginsOf(
  options: GraphOptions,
  pluginErrors: PluginErrorBoundary,
): (GraphPlugin | Plugin)[] {
  const { documents, scheduler, codes, limiter, maxCost, traces, responses, receipts } = options;
  const isAlone = options.plugins.hooks.length === 0;
  return [
    useSchema(options.schema),
    // These two execute, and all below wraps them: queries and mutations, by compiled code once they recur …
    useCompiledExecution(),
    // … and the events of subscriptions, each once for all subscribers who may share its result.
    useLiveResults(options),
    ...(traces ? [useTraces(options.schema, codes)] : []),
    // Admission, the cheapest first: nothing of a request is read before its client may send one.
    useClientLimits(limiter),
    useParams(),
    useTrustedDocuments(options.trusted),
    useReserve(limiter),
    usePreparedDocuments(documents, scheduler, limiter),
    useTransportRules(),
    useVariables(),
    useCostLimit({ maxCost, scheduler, keepsTree: !isAlone }),
    useMemoryLimit(options.isMemoryShort),
    // A cached response waits for no turn.
    useFairTurns(scheduler, limiter),
    useResponseCache({ cache: responses, limiter, confirms: isAlone }),
    // Errors of results get their codes, before any other plugin sees them. A refusal has its own.
    useErrorCodes(codes),
    ...(receipts ? [useReceipts()] : []),
    ...(isAlone ? [] : [pluginErrors.useOutcomes(), ...options.plugins.hooks]),
  ];
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
  /** Other people's; the hooks of their HTTP are yoga's to run. */
  readonly plugins: OpenPlugins;
  readonly codes: ErrorCodes;
  readonly #admit: (context: OperationContext) => Eventually<Refusal | null>;
  readonly #createContext: GraphOptions['createContext'];
  /** For hooks of yoga's HTTP as well. */
  readonly pluginErrors: PluginErrorBoundary;
  readonly #getEnveloped: (context: object) => Enveloped;

  constructor(options: GraphOptions) {
    const { schema, createContext, codes, plugins } = options;
    this.schema = schema;
    this.plugins = plugins;
    this.#createContext = createContext;
    this.codes = codes;
    this.pluginErrors = new PluginErrorBoundary(schema, codes, plugins.wrappable);
    const all = pluginsOf(options, this.pluginErrors);
    this.#admit = createAdmission(all, ({ errors }, { transport }) =>
      codes.refused(errors, transport.record),
    );
    this.#getEnveloped = envelop({ plugins: all }) as unknown as (context: object) => Enveloped;
  }

  context(caller: RequestCaller, transport: TransportContext): OperationContext {
    return this.#createContext(caller, new Operation(transport, caller.signal));
  }

  /** Admits, parses and validates an operation, synchronously unless a plugin has to wait. */
  open(context: OperationContext): Eventually<EnvelopedOperation | Refusal> {
    return after(this.#admit(context), (refusal) => refusal ?? this.#enter(context));
  }

  #enter(context: OperationContext): Eventually<EnvelopedOperation | Refusal> {
    const { operation } = context;
    const { params } = operation;
    const failed = (error: unknown, fallback?: Fallback) =>
      this.codes.refusal(error, operation.transport.record, fallback);
    const isAlone = this.plugins.hooks.length === 0;
    if (!isAlone) context.forPlugins ??= new PluginView(context);
    const pluginErrors = isAlone ? null : this.pluginErrors;
    try {
      const enveloped = this.#getEnveloped(context.forPlugins ?? context);
      const document = enveloped.parse(params.query ?? '');
      const errors = enveloped.validate(this.schema, document);
      if (errors.length > 0) return failed(new AggregateError(errors), OF_DOCUMENT);
      const ready = (contextValue: unknown) =>
        new EnvelopedOperation(enveloped, pluginErrors, context, {
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
  readonly #pluginErrors: PluginErrorBoundary | null;
  readonly #context: OperationContext;

  constructor(
    enveloped: Enveloped,
    pluginErrors: PluginErrorBoundary | null,
    context: OperationContext,
    args: ExecutionArgs,
  ) {
    this.#enveloped = enveloped;
    this.#pluginErrors = pluginErrors;
    this.#context = context;
    this.operation = context.operation;
    this.args = args;
  }

  get type(): OperationTypeNode {
    return this.operation.prepared.node.operation;
  }

  /** The result, or the events of a subscription. */
  execute(): Eventually<Subscribed | Refusal> {
    const enveloped = this.#enveloped;
    const context = this.#context;
    const pluginErrors = this.#pluginErrors;
    if (this.type === 'subscription') {
      if (pluginErrors === null) return enveloped.subscribe(this.args);
      return pluginErrors.subscribe(context, () => enveloped.subscribe(this.args));
    }
    if (pluginErrors === null) return enveloped.execute(this.args);
    return pluginErrors.execute(context, () => enveloped.execute(this.args));
  }
}
