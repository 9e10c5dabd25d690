import { type ExecutionResult, GraphQLError, type GraphQLSchema, Kind } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { asGuest } from '../../lib/guest-code.ts';
import { chain, type MaybePromise } from '../../lib/maybe-promise.ts';
import { isPlainJson, plainJson } from '../../lib/plain-json.ts';
import type { Operation } from '../admission/operation.ts';
import type { OperationContext } from '../admission/operation-context.ts';
import { fragmentsOf, responseKey, unfold } from '../documents/selections.ts';
import type { Subscribed } from '../execution/begin-events.ts';
import type { ErrorCodes } from '../operation/error-codes.ts';
import { traitOf } from '../operation/field-traits.ts';
import { type Fallback, OF_OPERATION, type Refusal } from '../operation/refusal.ts';
import { requestError } from '../operation/request-error.ts';
import type { RequestSummary } from '../operation/request-summary.ts';
import { type OperationEvents, OVER } from '../operation/result-sink.ts';
import { GRAPH, type PluginContext } from './plugin-view.ts';
import { unknownOutcome, type WrappableSchema } from './wrappable-schema.ts';

interface ExecutedMutation {
  readonly operation: Operation;
  /** Null while it is being executed. */
  readonly result: ExecutionResult | null;
}

/**
 * Keeps the faults of other plugins to their operation, by one conversion for every hook and transport. After a mutation was
 * executed a hook that fails may have been one that redacts: then the write's own scalars are sent, and nothing else.
 */
export class PluginErrorBoundary {
  readonly #schema: GraphQLSchema;
  readonly #codes: ErrorCodes;
  readonly #wrappable: WrappableSchema;
  readonly #guest: string;
  readonly #executed = new WeakMap<RequestSummary, ExecutedMutation>();

  constructor(
    schema: GraphQLSchema,
    codes: ErrorCodes,
    { wrappable, guest }: { readonly wrappable: WrappableSchema; readonly guest: string },
  ) {
    this.#schema = schema;
    this.#codes = codes;
    this.#wrappable = wrappable;
    this.#guest = guest;
  }

  /** Notes the result of a mutation, inside of all that other plugins wrap around its execution. */
  useOutcomes(): Plugin<PluginContext> {
    return {
      onExecute: ({ args, executeFn, setExecuteFn }) => {
        const { operation } = args.contextValue[GRAPH];
        const { record } = operation.transport;
        if (operation.prepared.node.operation !== 'mutation') return;
        setExecuteFn((given) => {
          const executing: MaybePromise<ExecutionResult> = executeFn(given);
          this.#executed.set(record, { operation, result: null });
          return chain(executing, (result) => {
            this.#executed.set(record, { operation, result });
            return result;
          });
        });
      },
    };
  }

  /** The answer to a request of which a hook has failed, whether it was admitted or not. */
  failed(record: RequestSummary, error: unknown, fallback: Fallback = OF_OPERATION) {
    const executed = this.#executed.get(record);
    if (executed === undefined) return this.#codes.refusal(error, record, fallback);
    this.#codes.pluginFailed(error);
    return this.#outcomes(executed);
  }

  run(
    context: OperationContext,
    run: () => MaybePromise<Subscribed>,
  ): MaybePromise<Subscribed | Refusal> {
    const { operation } = context;
    if (operation.prepared.node.operation === 'subscription') return this.#subscribe(context, run);
    const { record } = operation.transport;
    const done = (result: ExecutionResult) =>
      this.#wrappable.hasFailed(context)
        ? this.#outcomes(this.#executed.get(record) ?? { operation, result: null })
        : this.checked(record, result);
    try {
      const result = run() as MaybePromise<ExecutionResult>;
      return result instanceof Promise
        ? result.then(done).catch((error) => this.failed(record, error))
        : done(result);
    } catch (error) {
      return this.failed(record, error);
    }
  }

  async #subscribe(
    { operation }: OperationContext,
    run: () => MaybePromise<Subscribed>,
  ): Promise<Subscribed | Refusal> {
    const handed = await this.#handed(operation, run);
    const { events } = operation;
    if (events === null || Symbol.asyncIterator in handed) return handed;
    operation.events = null;
    events.leave();
    return handed;
  }

  async #handed(operation: Operation, run: () => MaybePromise<Subscribed>) {
    const { transport } = operation;
    const { record } = transport;
    try {
      const outcome = await run();
      const { events } = operation;
      if (outcome === events) return outcome;
      if (!(Symbol.asyncIterator in outcome)) return this.checked(record, outcome);
      if (events !== null) {
        const fault = (error: unknown) => this.#codes.pluginFailed(error);
        return asGuest(this.#guest, () => containedEvents(outcome, events, this.#guest, fault));
      }
      if (transport.reportsEnd === undefined) throw new TypeError('events that are a plugin’s own');
      return outcome;
    } catch (error) {
      return this.failed(record, error);
    }
  }

  /** A result as plugins hand it on: their errors get our codes, and without data they are a refusal. */
  checked(record: RequestSummary, result: ExecutionResult, fallback: Fallback = OF_OPERATION) {
    if (typeof result !== 'object' || result === null || Symbol.asyncIterator in result) {
      return this.failed(record, new TypeError('no result'));
    }
    const executed = this.#executed.get(record);
    const isChanged = executed !== undefined && result !== executed.result;
    if (isChanged && !asGuest(this.#guest, () => isPlainJson(result))) {
      return this.failed(record, new TypeError('a result that JSON cannot carry'));
    }
    const { errors, extensions } = result;
    // They are written when the plugin's code has long returned.
    const plain = () => plainJson(extensions) as NonNullable<typeof extensions>;
    const answer =
      extensions === undefined ? result : { ...result, extensions: asGuest(this.#guest, plain) };
    if (errors === undefined || errors.every(isOurs)) return answer;
    const meant = new AggregateError(errors);
    if (result.data == null) return this.failed(record, meant, fallback);
    const { errors: coded } = this.#codes.refusal(meant, record, fallback);
    return { ...answer, errors: coded };
  }

  #outcomes({ operation, result: executed }: ExecutedMutation): ExecutionResult {
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
    for (const [key, isKept] of this.#fieldsOf(operation)) {
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
    this.#codes.refused(failures, record);
    const own = (executed?.errors ?? []).filter(({ path = [] }) => path.length <= 2);
    const errors = [...own, ...failures];
    return { data, ...(errors.length > 0 && { errors }) };
  }

  /** The keys of a mutation's fields, and whether the outcome of each is sent; null for `__typename`. */
  #fieldsOf({ prepared: { node }, document }: Operation): ReadonlyMap<string, boolean | null> {
    const fields = this.#schema.getMutationType()?.getFields() ?? {};
    const found = new Map<string, boolean | null>();
    unfold(node.selectionSet, fragmentsOf(document.document), (selection) => {
      if (selection.kind !== Kind.FIELD) return;
      const field = fields[selection.name.value];
      found.set(responseKey(selection), field ? traitOf(field, 'keepsOutcome') === true : null);
    });
    return found;
  }
}

function scalarOrNull(value: unknown): unknown {
  return typeof value === 'object' ? null : value;
}

function isOurs({ extensions }: GraphQLError): boolean {
  return typeof extensions?.retryable === 'boolean' && extensions.http === undefined;
}

/**
 * The events of a subscription as other plugins hand them on. Whatever their iterator throws ends this subscription
 * alone, and its source in any case. Results bypass it: what it yields nobody asked for.
 */
function containedEvents(
  theirs: AsyncIterable<unknown>,
  events: OperationEvents,
  guest: string,
  fault: (error: unknown) => void,
): AsyncIterableIterator<never, void> {
  const iterator = theirs[Symbol.asyncIterator]();
  let running: Promise<typeof OVER> | null = null;
  async function run() {
    try {
      while (!(await asGuest(guest, () => iterator.next())).done);
    } catch (error) {
      events.fail(error);
    }
    return OVER;
  }
  async function leave() {
    try {
      await asGuest(guest, () => iterator.return?.());
    } catch (error) {
      fault(error);
    }
    events.leave();
    return OVER;
  }
  return {
    next() {
      running ??= run();
      return running;
    },
    return: leave,
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
