import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  specifiedRules,
  validate,
} from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import type { RequestCaller } from '../../lib/limits/request-caller.ts';
import type { Log } from '../../lib/log.ts';
import type { MaybePromise } from '../../lib/maybe-promise.ts';
import { admit, type OperationServices } from '../admission/admission.ts';
import type { Operation, OperationContext, TransportContext } from '../admission/operation.ts';
import { errorsOf } from '../core/error-masking.ts';
import { located, Refusal, requestError } from '../core/errors.ts';
import { traceOperation } from '../core/request-summary.ts';
import { type Answer, ResultIterator } from '../core/result-iterator.ts';
import { execute, withReceipt } from './execution.ts';
import { subscribe } from './subscriptions.ts';

/** An admitted operation, which plugins have parsed and validated. */
export interface OpenedOperation {
  readonly operation: Operation;
  /** Executes the operation. */
  start(): Promise<Answer>;
}

/** What an operation has returned, after plugins have changed it. */
type Ran = AsyncIterable<ExecutionResult> | ExecutionResult;

const OWN_CONTEXT = Symbol('context');

/** The context of an operation that hooks receive and can extend. Resolvers do not see it. */
interface PluginContext {
  readonly caller: RequestCaller;
  readonly headers: TransportContext['headers'];
  /** The context that resolvers read with. Hooks do not see it. */
  readonly [OWN_CONTEXT]: OperationContext;
}

/** A plugin for this context, or a published one for any. Only `onPluginInit` has a type that one of them cannot have. */
export type TeamPlugin = Omit<Plugin<PluginContext>, 'onPluginInit'> & {
  readonly onPluginInit?: unknown;
};

/**
 * Answers the operations of all transports. Admission parses, validates and limits each operation. One instance of yoga then
 * runs the hooks of the team's plugins: its `parse` and `validate` return what admission has found, and its `execute` and
 * `subscribe` call those of this folder. Yoga's HTTP handler is not used: the transports read requests and write
 * results. Without plugins yoga only calls `execute` or `subscribe`.
 */
export class Pipeline {
  readonly #services: OperationServices;
  readonly #hasPlugins: boolean;
  readonly #yoga;

  /** The team's plugins run around the service's own. */
  constructor(services: OperationServices, plugins: readonly TeamPlugin[]) {
    this.#services = services;
    this.#hasPlugins = plugins.length > 0;
    // Everything that the transports do is switched off.
    this.#yoga = createYoga({
      schema: services.schema,
      // A later plugin wraps the functions that earlier ones set.
      plugins: [useAdmittedDocument(), useExecution(services), ...plugins],
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

  /**
   * Opens an operation, or throws a Refusal. Until `start`, nothing of the operation is executed. `sent` is JSON of any
   * shape.
   */
  async open(
    caller: RequestCaller,
    transport: TransportContext,
    sent: unknown,
  ): Promise<OpenedOperation> {
    const { createContext, schema } = this.#services;
    try {
      const operation = await admit(this.#services, caller, transport, sent);
      const context = createContext(operation);
      const hookContext = { caller, headers: transport.headers, [OWN_CONTEXT]: context };
      const enveloped = this.#yoga.getEnveloped(hookContext);
      let document: DocumentNode = operation.document.document;
      let contextValue: unknown = hookContext;
      const { query, variables: variableValues, operationName } = operation.params;
      if (this.#hasPlugins) {
        document = await enveloped.parse(query);
        const errors: readonly Error[] = await enveloped.validate(schema, document);
        if (errors.length > 0) throw new Refusal(errors.map(invalid).flatMap(errorsOf));
        contextValue = await enveloped.contextFactory();
      }
      const isSubscription = operation.prepared.node.operation === 'subscription';
      const run = isSubscription ? enveloped.subscribe : enveloped.execute;
      const args = { schema, document, contextValue, variableValues, operationName };
      return { operation, start: () => this.#start(context, () => run(args)) };
    } catch (error) {
      throw error instanceof Refusal ? error : new Refusal(errorsOf(error));
    }
  }

  async dispose(): Promise<void> {
    await this.#yoga.dispose();
  }

  async #start(context: OperationContext, run: () => MaybePromise<Ran>): Promise<Answer> {
    const { operation } = context;
    const { summary } = operation.transport;
    const { node } = operation.prepared;
    const { masking, receipts, tracing } = this.#services;
    if (tracing) traceOperation(tracing, summary, node);
    let answer: Ran;
    try {
      answer = await run();
    } catch (error) {
      answer = failed(error);
    }
    if (Symbol.asyncIterator in answer) return this.#resultsOf(answer, operation);
    const masked = masking.maskedResult(unlessMutationLost(answer, operation), summary);
    // Each event has its own receipt.
    const isSubscription = node.operation === 'subscription';
    return isSubscription || !receipts ? masked : withReceipt(context, masked);
  }

  /** Returns the results of an operation, as plugins have changed them. */
  #resultsOf(
    answer: AsyncIterable<ExecutionResult>,
    { results, transport }: Operation,
  ): ResultIterator {
    if (results !== null) return answer === results ? results : results.changedBy(answer);
    // A plugin has made several results of one.
    const { masking } = this.#services;
    return new ResultIterator(answer, {
      resultOf: (result) => result,
      lastResult: (error) => ({ errors: masking.masked(errorsOf(error), transport.summary) }),
      ended() {},
    });
  }
}

/** Admission has parsed and validated the document. Rules that plugins add are validated for each operation. */
function useAdmittedDocument(): Plugin<PluginContext> {
  return {
    onParse({ context, setParsedDocument }) {
      setParsedDocument(context[OWN_CONTEXT].operation.document.document);
    },
    onValidate({ setValidationFn }) {
      setValidationFn(validateFurther);
    },
  };
}

/** Executes the admitted operation, even if plugins pass on another document or other variables. */
function useExecution(services: OperationServices): Plugin<PluginContext> {
  return {
    onExecute: ({ setExecuteFn }) =>
      setExecuteFn(({ contextValue }) => execute(services, contextValue[OWN_CONTEXT])),
    onSubscribe: ({ setSubscribeFn }) =>
      setSubscribeFn(({ contextValue }) => subscribe(services, contextValue[OWN_CONTEXT])),
  };
}

const OF_SPECIFICATION: ReadonlySet<unknown> = new Set(specifiedRules);

/** Yoga adds the specification's own rules for each operation, and the document has passed them. */
const validateFurther: typeof validate = (schema, document, rules = [], ...more) => {
  const others = rules.filter((rule) => !OF_SPECIFICATION.has(rule));
  return others.length === 0 ? [] : validate(schema, document, others, ...more);
};

/** After an executed mutation a plugin's error must not reach the client: its code could mean that nothing was done. */
function unlessMutationLost(result: ExecutionResult, { mutation }: Operation): ExecutionResult {
  const isLost = Object.entries(mutation ?? {}).some(
    ([field, outcome]) => result.data == null || (outcome !== null && result.data[field] == null),
  );
  if (!isLost) return result;
  const cause = result.errors?.[0];
  return failed(new Error('a plugin removed the result of a mutation', { cause }));
}

function failed(error: unknown): ExecutionResult {
  return { errors: errorsOf(error) };
}

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
