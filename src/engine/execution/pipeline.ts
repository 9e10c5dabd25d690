import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  specifiedRules,
  validate,
} from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import type { RequestCaller } from '../../lib/limits/request-caller.ts';
import type { Log } from '../../lib/log.ts';
import { chain, type MaybePromise } from '../../lib/maybe-promise.ts';
import type { Tracing } from '../../lib/tracing/tracing.ts';
import { type AdmissionParts, admit } from '../admission/admission.ts';
import {
  mayBeMutation,
  type Operation,
  type OperationContext,
  type TransportContext,
} from '../admission/operation.ts';
import { asGraphQLError, type ErrorMasking } from '../operation/error-masking.ts';
import {
  located,
  markNotSent,
  type Refusal,
  refused,
  requestError,
  withHeaders,
} from '../operation/errors.ts';
import { LiveResults } from '../operation/live-results.ts';
import { traceOperation } from '../operation/request-summary.ts';
import type { Subscribed } from './event-results.ts';
import type { Execution } from './execution.ts';

export interface PipelineParts extends AdmissionParts {
  readonly schema: GraphQLSchema;
  readonly execution: Execution;
  readonly codes: ErrorMasking;
  readonly tracing: Tracing | null;
  /** The team's plugins, which run around the service's own. */
  readonly plugins: readonly TeamPlugin[];
  /** Makes the context that the operation's resolvers read with. */
  readonly createContext: (operation: Operation) => OperationContext;
}

const OWN = Symbol('own');

/** The context of an operation that hooks receive and can extend. Resolvers do not see it. */
interface PluginContext {
  readonly caller: RequestCaller;
  readonly headers: TransportContext['headers'];
  readonly [OWN]: OwnContext;
}

/** A plugin for this context, or a published one for any. Only `onPluginInit` has a type that one of them cannot have. */
export type TeamPlugin = Omit<Plugin<PluginContext>, 'onPluginInit'> & {
  readonly onPluginInit?: unknown;
};

interface OwnContext {
  readonly context: OperationContext;
  /** The result of a mutation's execution; null before. */
  executed: ExecutionResult | null;
  /** The results of events, or the parts of an answer, before plugins; null if there are none. */
  results: AsyncIterableIterator<ExecutionResult> | null;
}

/** An admitted operation, which plugins have parsed and validated. */
export interface OpenedOperation {
  readonly kind: 'opened';
  readonly operation: Operation;
  /** Executes the operation. Returns its result, or the events of a subscription. */
  start(): MaybePromise<Subscribed>;
}

/** Yoga's functions for one operation. They return a promise only if a plugin does. */
interface Enveloped {
  parse(query: string): DocumentNode;
  validate(schema: GraphQLSchema, document: DocumentNode): readonly Error[];
  contextFactory(): MaybePromise<unknown>;
  execute(args: ExecutionArgs): MaybePromise<ExecutionResult>;
  subscribe(args: ExecutionArgs): MaybePromise<Subscribed>;
}

/**
 * Answers the operations of all transports: each is admitted, and one instance of yoga parses, validates and executes it.
 * Yoga's HTTP handler is not used: the transports read requests and write results.
 */
export class Pipeline {
  readonly schema: GraphQLSchema;
  readonly codes: ErrorMasking;
  readonly #parts: PipelineParts;
  readonly #yoga: ReturnType<typeof createOperationYoga>;

  constructor(parts: PipelineParts) {
    this.schema = parts.schema;
    this.codes = parts.codes;
    this.#parts = parts;
    this.#yoga = createOperationYoga(parts);
  }

  /** Opens an operation, or refuses it. Waits only for a new document's turn, or for a plugin. */
  open(
    caller: RequestCaller,
    transport: TransportContext,
  ): MaybePromise<OpenedOperation | Refusal> {
    return chain(admit(this.#parts, caller, transport), (operation) => {
      if (operation.kind === 'operation') return this.#openByYoga(operation);
      this.codes.refused(operation.errors, transport.record);
      if (mayBeMutation(transport)) markNotSent(operation.errors);
      return operation;
    });
  }

  async dispose(): Promise<void> {
    await this.#yoga.dispose();
  }

  /** Lets yoga parse and validate an operation, and run the plugins around its execution. */
  #openByYoga(operation: Operation): MaybePromise<OpenedOperation | Refusal> {
    const { schema } = this;
    const { caller, params, transport } = operation;
    const context = this.#parts.createContext(operation);
    const own: OwnContext = { context, executed: null, results: null };
    const hookContext: PluginContext = { caller, headers: transport.headers, [OWN]: own };
    const refuse = (error: unknown) => this.#refuse(operation, [error]);
    try {
      const enveloped = this.#yoga.getEnveloped(hookContext) as unknown as Enveloped;
      const opened = (contextValue: unknown, document: DocumentNode): OpenedOperation => {
        const { variables, operationName } = params;
        const args = { schema, document, contextValue, variableValues: variables, operationName };
        return { kind: 'opened', operation, start: () => this.#start(enveloped, args, own) };
      };
      // Admission has parsed and validated the document. Yoga does both again only for the hooks of plugins.
      if (this.#parts.plugins.length === 0) return opened(hookContext, operation.document.document);
      const document = enveloped.parse(params.query);
      const errors = enveloped.validate(schema, document);
      if (errors.length > 0) return this.#refuse(operation, errors.map(invalid));
      const extended = enveloped.contextFactory();
      return extended instanceof Promise
        ? extended.then((context) => opened(context, document), refuse)
        : opened(extended, document);
    } catch (error) {
      return refuse(error);
    }
  }

  #start(enveloped: Enveloped, args: ExecutionArgs, own: OwnContext): MaybePromise<Subscribed> {
    const { operation } = own.context;
    const toSend = (outcome: Subscribed) => this.#toSend(own.context, this.#checked(own, outcome));
    const failure = (error: unknown) => toSend(failed(error));
    const { tracing } = this.#parts;
    if (tracing) traceOperation(tracing, operation.transport.record, operation.prepared.node);
    const isSubscription = operation.prepared.node.operation === 'subscription';
    let outcome: MaybePromise<Subscribed>;
    try {
      outcome = isSubscription ? enveloped.subscribe(args) : enveloped.execute(args);
    } catch (error) {
      return failure(error);
    }
    return outcome instanceof Promise ? outcome.then(toSend, failure) : toSend(outcome);
  }

  /** Checks the outcome that plugins have passed on. Returns the outcome, or an error in its place. */
  #checked({ context, executed, results }: OwnContext, outcome: Subscribed): Subscribed {
    if (Symbol.asyncIterator in outcome) {
      return results === null || outcome === results
        ? outcome
        : this.#ofPlugin(context, outcome, results);
    }
    // After an executed mutation a plugin's error must not reach the client: its code could mean that nothing was done.
    const hadData = executed !== null && executed.data != null;
    const isLost = hadData && outcome.data == null;
    if (!isLost) return outcome;
    const cause = outcome.errors?.[0];
    return failed(new Error('a plugin removed the result of a mutation', { cause }));
  }

  /** The results that plugins make of `results`. They end at once, even if a plugin waits for the next event. */
  #ofPlugin(
    { operation }: OperationContext,
    outcome: AsyncIterable<ExecutionResult>,
    results: AsyncIterableIterator<ExecutionResult>,
  ): LiveResults<ExecutionResult> {
    const { record } = operation.transport;
    return new LiveResults(outcome, {
      resultOf: (result) => result,
      lastResult: (error) => ({ errors: this.codes.masked([asGraphQLError(error)], record) }),
      ended: () => fireAndForget('live results', Promise.resolve(results.return?.())),
    });
  }

  #toSend(context: OperationContext, outcome: Subscribed): Subscribed {
    const { record } = context.operation.transport;
    const isEvents = Symbol.asyncIterator in outcome;
    const masked = isEvents ? outcome : this.codes.maskedResult(outcome, record);
    return this.#parts.execution.withReceipt(context, masked);
  }

  #refuse({ headers, transport }: Operation, errors: readonly unknown[]): Refusal {
    const masked = this.codes.masked(errors.map(asGraphQLError), transport.record);
    if (mayBeMutation(transport)) markNotSent(masked);
    const isFault = masked.some(({ extensions }) => this.codes.isFault(extensions.code));
    return withHeaders(refused(masked, isFault ? 500 : 400), headers);
  }
}

function failed(error: unknown): ExecutionResult {
  return { errors: [asGraphQLError(error)] };
}

/** Makes the instance of yoga that all operations pass through. Everything that the transports do is switched off. */
function createOperationYoga({ schema, execution, plugins }: PipelineParts) {
  return createYoga({
    schema,
    // A later plugin wraps the functions that earlier ones set, so the team's plugins run around the service's own.
    plugins: [useAdmittedDocument(), useExecution(execution), ...plugins],
    cors: false,
    graphiql: false,
    landingPage: false,
    parserAndValidationCache: false,
    maskedErrors: false,
    batching: false,
    multipart: false,
    maxRequestBodySize: false,
    logging: false,
  });
}

/** Admission has parsed and validated the document. Rules that plugins add are validated for each operation. */
function useAdmittedDocument(): Plugin<PluginContext> {
  return {
    onParse({ context, setParsedDocument }) {
      setParsedDocument(context[OWN].context.operation.document.document);
    },
    onValidate({ setValidationFn }) {
      setValidationFn(validateFurther);
    },
  };
}

/** Executes the admitted operation, even if plugins pass on another document or other variables. */
function useExecution(execution: Execution): Plugin<PluginContext> {
  return {
    onExecute({ setExecuteFn }) {
      setExecuteFn(({ contextValue }) => {
        const own = (contextValue as PluginContext)[OWN];
        return chain(execution.execute(own.context), (result) => {
          const { node } = own.context.operation.prepared;
          if (Symbol.asyncIterator in result) own.results = result;
          else if (node.operation === 'mutation') own.executed = result;
          return result;
        });
      });
    },
    onSubscribe({ setSubscribeFn }) {
      setSubscribeFn(({ contextValue }) => {
        const own = (contextValue as PluginContext)[OWN];
        return chain(execution.subscribe(own.context), (outcome) => {
          own.results = own.context.operation.live;
          return outcome;
        });
      });
    },
  };
}

const OF_SPECIFICATION: ReadonlySet<unknown> = new Set(specifiedRules);

/** Yoga adds the specification's own rules for each operation, and the document has passed them. */
const validateFurther: typeof validate = (schema, document, rules = [], ...more) => {
  // Plugins can only add rules, so an equal number means that none was added.
  if (rules.length === specifiedRules.length) return [];
  const others = rules.filter((rule) => !OF_SPECIFICATION.has(rule));
  return others.length === 0 ? [] : validate(schema, document, others, ...more);
};

/** Gives an error of a plugin's rule the code of invalid documents, unless the rule has chosen a code. */
function invalid(error: Error): Error {
  if (!(error instanceof GraphQLError) || error.extensions.code !== undefined) return error;
  return located(requestError('GRAPHQL_VALIDATION_FAILED', error.message), error);
}

/** Yoga's HTTP handler calls these, and the transports are used in its place. */
const HTTP_HOOKS = [
  'onRequest',
  'onRequestParse',
  'onParams',
  'onExecutionResult',
  'onResultProcess',
  'onResponse',
];

/** Warns of each hook of a plugin that never runs. */
export function warnOfUnusedHooks(plugins: readonly object[], log: Pick<Log, 'warn'>): void {
  for (const [index, plugin] of plugins.entries()) {
    for (const hook of HTTP_HOOKS.filter((name) => name in plugin)) {
      const message = 'a plugin has a hook of yoga’s HTTP handler, which is not used';
      log.warn({ hook, plugin: index + 1 }, message);
    }
  }
}
