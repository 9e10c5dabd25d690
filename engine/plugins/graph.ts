import type { DocumentNode, ExecutionArgs, ExecutionResult, GraphQLSchema } from 'graphql';
import { createYoga } from 'graphql-yoga';
import type { RequestCaller } from '../../lib/caller.ts';
import { runInExtension } from '../../lib/extension-code.ts';
import { chain, type MaybePromise } from '../../lib/maybe-promise.ts';
import type { AdmissionParts } from '../admission/admission.ts';
import type { Operation } from '../admission/operation.ts';
import type { OperationContext } from '../admission/operation-context.ts';
import type { Subscribed } from '../execution/begin-events.ts';
import type { Execution } from '../execution/execution.ts';
import { beginTrace } from '../execution/operation-traces.ts';
import type { ErrorCodes } from '../operation/error-codes.ts';
import {
  type Fallback,
  markNotSent,
  OF_DOCUMENT,
  type Refusal,
  withHeaders,
} from '../operation/refusal.ts';
import { mayBeMutation, type TransportContext } from '../operation/transport-context.ts';
import { createErrorBoundary } from './error-boundary.ts';
import { createHttpHooks, type HttpAnswer } from './http-hooks.ts';
import type { OpenPlugins } from './open-plugins.ts';
import { type ServicePlugin, servicePlugins } from './pipeline.ts';
import { admittedView, GRAPH, type OpenedOperation, PluginView, REQUEST } from './plugin-view.ts';

export interface GraphParts {
  readonly schema: GraphQLSchema;
  readonly admission: AdmissionParts;
  readonly execution: Execution;
  readonly codes: ErrorCodes;
  /** Other people's. */
  readonly plugins: OpenPlugins;
  /** Makes the context with which the operation's resolvers read. */
  readonly createContext: (caller: RequestCaller, operation: Operation) => OperationContext;
}

/** Yoga's functions for one operation; they return a promise only where a plugin waits. */
interface Enveloped {
  parse(query: string): DocumentNode;
  validate(schema: GraphQLSchema, document: DocumentNode): readonly Error[];
  contextFactory(): MaybePromise<unknown>;
  execute(args: ExecutionArgs): MaybePromise<ExecutionResult>;
  subscribe(args: ExecutionArgs): MaybePromise<Subscribed>;
}

export type Graph = ReturnType<typeof createGraph>;

/** Answers the operations of all transports by one instance of yoga: it admits each, and then executes it. */
export function createGraph(parts: GraphParts) {
  const { schema, plugins, codes, createContext, execution } = parts;
  const hasOthers = plugins.hooks.length > 0;
  const pluginErrors = createErrorBoundary(schema, codes, plugins);
  const own = servicePlugins({ ...parts, hasOthers });
  const httpHooks = createHttpHooks(pluginErrors, open);
  const yoga = createYoga({
    graphqlEndpoint: '/graphql',
    schema,
    // One that wraps is run before those that stand before it in the list.
    plugins: [
      ...own,
      ...(hasOthers ? [pluginErrors.outcomes, httpHooks.first] : []),
      ...plugins.hooks,
      ...(hasOthers ? [httpHooks.last] : []),
    ] as ServicePlugin[],
    // The transports do the rest of what yoga does by default, each as its bytes need it.
    cors: false,
    graphiql: false,
    landingPage: false,
    healthCheckEndpoint: '/health/none',
    parserAndValidationCache: false,
    maskedErrors: false,
    batching: false,
    multipart: false,
    maxRequestBodySize: false,
    logging: false,
  });
  const asTheirs = <Result>(run: () => Result) =>
    hasOthers ? runInExtension(plugins.extension, run) : run();
  const onRequested = own.flatMap((each) => each.onRequested ?? [])[0] as NonNullable<
    ServicePlugin['onRequested']
  >;

  /** Opens an operation, or refuses it; waits for a document's turn or a plugin alone. `view`: what hooks of HTTP have seen. */
  function open(
    caller: RequestCaller,
    given: TransportContext,
    view?: PluginView,
  ): MaybePromise<OpenedOperation | Refusal> {
    // Other people's hooks see one result.
    const transport = hasOthers ? { ...given, partsFormat: null } : given;
    return chain(onRequested({ caller, transport, operation: null }), (operation) => {
      if (operation.kind === 'refusal') {
        codes.refused(operation.errors, transport.record);
        if (mayBeMutation(transport)) markNotSent(operation.errors);
        return operation;
      }
      if (view !== undefined) view[REQUEST].operation = operation;
      const context = createContext(caller, operation);
      return envelop(
        context,
        hasOthers
          ? admittedView(view ?? new PluginView(caller, transport), context)
          : { [GRAPH]: context },
      );
    });
  }

  function envelop(
    context: OperationContext,
    view: object,
  ): MaybePromise<OpenedOperation | Refusal> {
    const { operation } = context;
    const { params, prepared, headers, transport } = operation;
    const failed = (error: unknown, fallback?: Fallback) =>
      withHeaders(codes.refusal(error, transport.record, fallback), headers);
    try {
      const enveloped = asTheirs(() => yoga.getEnveloped(view) as unknown as Enveloped);
      const document = asTheirs(() => enveloped.parse(params.query));
      const errors = asTheirs(() => enveloped.validate(schema, document));
      if (errors.length > 0) return failed(new AggregateError(errors), OF_DOCUMENT);
      const ready = (contextValue: unknown) => {
        const { variables, operationName } = params;
        const args = { schema, document, contextValue, variableValues: variables, operationName };
        const isSubscription = prepared.node.operation === 'subscription';
        const run = (): MaybePromise<Subscribed> =>
          asTheirs(() => (isSubscription ? enveloped.subscribe(args) : enveloped.execute(args)));
        const start = () => {
          beginTrace(operation);
          const running = hasOthers ? pluginErrors.run(context, run) : run();
          return chain(running, (outcome) => execution.ended(context, outcome));
        };
        return { kind: 'opened', operation, start } as const;
      };
      const building = asTheirs(() => enveloped.contextFactory());
      return building instanceof Promise ? building.then(ready).catch(failed) : ready(building);
    } catch (error) {
      return failed(error);
    }
  }

  function answer(caller: RequestCaller, transport: TransportContext): MaybePromise<HttpAnswer> {
    return chain<OpenedOperation | Refusal, HttpAnswer>(open(caller, transport), (opened) => {
      if (opened.kind === 'refusal') return { operation: null, outcome: opened, response: null };
      const { operation } = opened;
      return chain(opened.start(), (outcome) => ({ operation, outcome, response: null }));
    });
  }

  return {
    schema,
    codes,
    open,
    yoga,
    /** Answers a request over HTTP; around it run the hooks of yoga's HTTP that other people's plugins have. */
    answer: plugins.ofHttp.length > 0 ? httpHooks.around(yoga) : answer,
  };
}
