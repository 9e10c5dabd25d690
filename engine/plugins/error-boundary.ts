import { type ExecutionResult, GraphQLError, type GraphQLSchema, Kind } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { runInExtension } from '../../lib/extension-code.ts';
import { traitOf } from '../../lib/field-traits.ts';
import { chain, type MaybePromise } from '../../lib/maybe-promise.ts';
import { isPlainJson, plainJson } from '../../lib/plain-json.ts';
import type { Operation } from '../admission/operation.ts';
import type { OperationContext } from '../admission/operation-context.ts';
import { fragmentsOf, responseKey, unfold } from '../documents/selections.ts';
import type { Subscribed } from '../execution/begin-events.ts';
import type { ErrorCodes } from '../operation/error-codes.ts';
import { type Fallback, OF_OPERATION, type Refusal } from '../operation/refusal.ts';
import { requestError } from '../operation/request-error.ts';
import type { RequestSummary } from '../operation/request-summary.ts';
import type { OperationEvents } from '../operation/result-sink.ts';
import { containedEvents, IteratedEvents } from './plugin-events.ts';
import { GRAPH, isOurs, type PluginContext } from './plugin-view.ts';
import { unknownOutcome, type WrappableSchema } from './wrappable-schema.ts';

interface ExecutedMutation {
  readonly operation: Operation;
  /** Null while it is being executed. */
  readonly result: ExecutionResult | null;
}

export type PluginErrorBoundary = ReturnType<typeof createErrorBoundary>;

/**
 * Keeps the faults of other plugins to their operation, by one conversion for every hook and transport. After a mutation was
 * executed a hook that fails may have been one that redacts: then the write's own scalars are sent, and nothing else.
 */
export function createErrorBoundary(
  schema: GraphQLSchema,
  codes: ErrorCodes,
  { wrappable, extension }: { readonly wrappable: WrappableSchema; readonly extension: string },
) {
  const executed = new WeakMap<RequestSummary, ExecutedMutation>();

  /** Notes the result of a mutation, inside of all that other plugins wrap around its execution. */
  const outcomes: Plugin<PluginContext> = {
    onExecute({ args, executeFn, setExecuteFn }) {
      const { operation } = args.contextValue[GRAPH];
      const { record } = operation.transport;
      if (operation.prepared.node.operation !== 'mutation') return;
      setExecuteFn((given) => {
        const executing: MaybePromise<ExecutionResult> = executeFn(given);
        executed.set(record, { operation, result: null });
        return chain(executing, (result) => {
          executed.set(record, { operation, result });
          return result;
        });
      });
    },
  };

  /** The answer to a request of which a hook has failed, whether it was admitted or not. */
  function failed(record: RequestSummary, error: unknown, fallback: Fallback = OF_OPERATION) {
    const mutation = executed.get(record);
    if (mutation === undefined) return codes.refusal(error, record, fallback);
    codes.pluginFailed(error);
    return outcomesOf(mutation);
  }

  function run(
    context: OperationContext,
    begin: () => MaybePromise<Subscribed>,
  ): MaybePromise<Subscribed | Refusal> {
    const { operation } = context;
    if (operation.prepared.node.operation === 'subscription') return subscribe(operation, begin);
    const { record } = operation.transport;
    const done = (result: ExecutionResult) =>
      wrappable.hasFailed(context)
        ? outcomesOf(executed.get(record) ?? { operation, result: null })
        : checked(record, result);
    try {
      const result = begin() as MaybePromise<ExecutionResult>;
      return result instanceof Promise
        ? result.then(done).catch((error) => failed(record, error))
        : done(result);
    } catch (error) {
      return failed(record, error);
    }
  }

  async function subscribe(
    operation: Operation,
    begin: () => MaybePromise<Subscribed>,
  ): Promise<Subscribed | Refusal> {
    const handed = await handedOn(operation, begin);
    const { events } = operation;
    if (events === null || Symbol.asyncIterator in handed) return handed;
    operation.events = null;
    events.leave();
    return handed;
  }

  async function handedOn(operation: Operation, begin: () => MaybePromise<Subscribed>) {
    const { record } = operation.transport;
    try {
      const outcome = await begin();
      return Symbol.asyncIterator in outcome
        ? new IteratedEvents(contain(operation, outcome))
        : checked(record, outcome);
    } catch (error) {
      return failed(record, error);
    }
  }

  /** The events as plugins hand them on: what they have made of them is what the transport delivers. */
  function contain(operation: Operation, outcome: AsyncIterable<ExecutionResult>): OperationEvents {
    const { events, transport } = operation;
    if (outcome instanceof IteratedEvents && events !== null) return events;
    const options = { extension, codes, record: transport.record };
    operation.events = containedEvents(outcome, events, options);
    return operation.events;
  }

  /** A result as plugins hand it on: their errors get our codes, and without data they are a refusal. */
  function checked(
    record: RequestSummary,
    result: ExecutionResult,
    fallback: Fallback = OF_OPERATION,
  ) {
    if (typeof result !== 'object' || result === null || Symbol.asyncIterator in result) {
      return failed(record, new TypeError('no result'));
    }
    const mutation = executed.get(record);
    const isChanged = mutation !== undefined && result !== mutation.result;
    if (isChanged && !runInExtension(extension, () => isPlainJson(result))) {
      return failed(record, new TypeError('a result that JSON cannot carry'));
    }
    const { errors, extensions } = result;
    // They are written when the plugin's code has long returned.
    const plain = () => plainJson(extensions) as NonNullable<typeof extensions>;
    const answer =
      extensions === undefined
        ? result
        : { ...result, extensions: runInExtension(extension, plain) };
    if (errors === undefined || errors.every(isOurs)) return answer;
    const meant = new AggregateError(errors);
    if (result.data == null) return failed(record, meant, fallback);
    return { ...answer, errors: codes.refusal(meant, record, fallback).errors };
  }

  function outcomesOf({ operation, result: executed }: ExecutedMutation): ExecutionResult {
    const written = executed?.data;
    if (executed !== null && written == null) return executed;
    const { record } = operation.transport;
    const { requestId } = record;
    const data: Record<string, unknown> = {};
    const failures: GraphQLError[] = [];
    const lost = (error: GraphQLError, ...path: string[]) => {
      data[path[0] as string] ??= null;
      failures.push(new GraphQLError(error.message, { path, extensions: error.extensions }));
    };
    for (const [key, isKept] of fieldsOf(operation)) {
      if (written && !(key in written)) continue;
      const value = written?.[key];
      if (value === null || isKept === null) data[key] = value;
      else if (typeof value !== 'object' || !isKept) lost(unknownOutcome(), key);
      else {
        const entries = Object.entries(value);
        data[key] = Object.fromEntries(entries.map(([name, each]) => [name, scalarOrNull(each)]));
        for (const [name, each] of entries) {
          if (scalarOrNull(each) === each) continue;
          lost(requestError('INTERNAL', 'Something went wrong here.', { requestId }), key, name);
        }
      }
    }
    codes.refused(failures, record);
    const own = (executed?.errors ?? []).filter(({ path = [] }) => path.length <= 2);
    const errors = [...own, ...failures];
    return { data, ...(errors.length > 0 && { errors }) };
  }

  /** The keys of a mutation's fields, and whether the outcome of each is sent; null for `__typename`. */
  function fieldsOf({ prepared: { node }, document }: Operation) {
    const fields = schema.getMutationType()?.getFields() ?? {};
    const found = new Map<string, boolean | null>();
    unfold(node.selectionSet, fragmentsOf(document.document), (selection) => {
      if (selection.kind !== Kind.FIELD) return;
      const field = fields[selection.name.value];
      found.set(responseKey(selection), field ? traitOf(field, 'keepsOutcome') === true : null);
    });
    return found;
  }

  return { outcomes, failed, run, checked, contain };
}

function scalarOrNull(value: unknown): unknown {
  return typeof value === 'object' ? null : value;
}
