import { type DocumentNode, type ExecutionResult, GraphQLError, type GraphQLSchema } from 'graphql';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import type { RequestCaller } from '../../lib/limits/request-caller.ts';
import type { MaybePromise } from '../../lib/maybe-promise.ts';
import { admit, type OperationParts } from '../admission/admission.ts';
import type { Operation, TransportContext } from '../admission/operation.ts';
import { type ErrorMasking, errorsOf } from '../operation/error-masking.ts';
import { located, Refusal, requestError } from '../operation/errors.ts';
import { LiveResults } from '../operation/live-results.ts';
import { traceOperation } from '../operation/request-summary.ts';
import { type Executed, withReceipt } from './execution.ts';
import type { Subscribed } from './subscriptions.ts';
import { createOperationYoga, EXECUTED, type TeamPlugin } from './yoga.ts';

/** An admitted operation, which plugins have parsed and validated. */
export interface OpenedOperation {
  readonly operation: Operation;
  /** Executes the operation. Returns its result, or the events of a subscription. */
  start(): Promise<Subscribed>;
}

/**
 * Answers the operations of all transports. Admission parses, validates and limits each operation. One instance of yoga then
 * runs the hooks of the team's plugins: its `parse` and `validate` return what admission has found, and its `execute` and
 * `subscribe` call `Execution` and `Subscriptions`. Yoga's HTTP handler is not used: the transports read requests and write
 * results. Without plugins yoga only calls `execute` or `subscribe`.
 */
export class Pipeline {
  readonly schema: GraphQLSchema;
  readonly masking: ErrorMasking;
  readonly #parts: OperationParts;
  readonly #hasPlugins: boolean;
  readonly #yoga: ReturnType<typeof createOperationYoga>;

  /** The team's plugins run around the service's own. */
  constructor(parts: OperationParts, plugins: readonly TeamPlugin[]) {
    this.schema = parts.schema;
    this.masking = parts.masking;
    this.#parts = parts;
    this.#hasPlugins = plugins.length > 0;
    this.#yoga = createOperationYoga(parts, plugins);
  }

  /** Opens an operation, or throws a Refusal. Until `start`, nothing of the operation is executed. */
  async open(caller: RequestCaller, transport: TransportContext): Promise<OpenedOperation> {
    try {
      const operation = await admit(this.#parts, caller, transport);
      const context = this.#parts.createContext(operation);
      const executed: Executed = { context, mutation: null, parts: null };
      const hookContext = { caller, headers: transport.headers, [EXECUTED]: executed };
      const enveloped = this.#yoga.getEnveloped(hookContext);
      let document: DocumentNode = operation.document.document;
      let contextValue: unknown = hookContext;
      const { query, variables: variableValues, operationName } = operation.params;
      if (this.#hasPlugins) {
        document = await enveloped.parse(query);
        const errors: readonly Error[] = await enveloped.validate(this.schema, document);
        if (errors.length > 0) throw new Refusal(errors.map(invalid).flatMap(errorsOf));
        contextValue = await enveloped.contextFactory();
      }
      const isSubscription = operation.prepared.node.operation === 'subscription';
      const run = isSubscription ? enveloped.subscribe : enveloped.execute;
      const args = { schema: this.schema, document, contextValue, variableValues, operationName };
      return { operation, start: () => this.#start(executed, () => run(args)) };
    } catch (error) {
      throw error instanceof Refusal ? error : new Refusal(errorsOf(error));
    }
  }

  async dispose(): Promise<void> {
    await this.#yoga.dispose();
  }

  async #start(executed: Executed, run: () => MaybePromise<Subscribed>): Promise<Subscribed> {
    const { context } = executed;
    const { prepared, transport } = context.operation;
    const { summary } = transport;
    const { receipts, tracing } = this.#parts;
    if (tracing) traceOperation(tracing, summary, prepared.node);
    let outcome: Subscribed;
    try {
      outcome = await run();
    } catch (error) {
      outcome = failed(error);
    }
    if (Symbol.asyncIterator in outcome) return this.#checkedResults(executed, outcome);
    const masked = this.masking.maskedResult(checkedResult(executed, outcome), summary);
    // Each event has its own receipt.
    const isSubscription = prepared.node.operation === 'subscription';
    return isSubscription || !receipts ? masked : withReceipt(context, masked);
  }

  /** Returns the results that plugins make of ours. They end at once, even if a plugin waits for the next event. */
  #checkedResults({ context, parts }: Executed, outcome: AsyncIterableIterator<ExecutionResult>) {
    const { live, transport } = context.operation;
    const results = parts ?? live;
    if (results === null || outcome === results) return outcome;
    const { summary } = transport;
    return new LiveResults(outcome, {
      resultOf: (result) => result,
      lastResult: (error) => ({ errors: this.masking.masked(errorsOf(error), summary) }),
      ended: () => fireAndForget('live results', Promise.resolve(results.return?.())),
    });
  }
}

/** After an executed mutation a plugin's error must not reach the client: its code could mean that nothing was done. */
function checkedResult({ mutation }: Executed, outcome: ExecutionResult): ExecutionResult {
  const isLost = mutation?.data != null && outcome.data == null;
  if (!isLost) return outcome;
  const cause = outcome.errors?.[0];
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
