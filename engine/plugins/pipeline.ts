import { type ExecutionArgs, print, specifiedRules, validate } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { runInCore } from '../../lib/extension-code.ts';
import { chain, type MaybePromise } from '../../lib/maybe-promise.ts';
import { type AdmissionParts, admit } from '../admission/admission.ts';
import type { Operation } from '../admission/operation.ts';
import type { OperationContext } from '../admission/operation-context.ts';
import type { Subscribed } from '../execution/begin-events.ts';
import { FollowedEvents } from '../execution/delivery.ts';
import type { Execution } from '../execution/execution.ts';
import type { ErrorCodes } from '../operation/error-codes.ts';
import type { Refusal } from '../operation/refusal.ts';
import { IteratedEvents } from './plugin-events.ts';
import { eventContexts, GRAPH, type PluginContext, type PluginRequest } from './plugin-view.ts';

interface PipelineParts {
  readonly admission: AdmissionParts;
  readonly execution: Execution;
  readonly codes: ErrorCodes;
  /** Whether other people's plugins run around these. */
  readonly hasOthers: boolean;
}

/** A plugin of this service's own: it may also decide whether an operation is admitted, before any hook sees it. */
export type ServicePlugin = Plugin<PluginContext> & {
  readonly onRequested?: (request: PluginRequest) => MaybePromise<Operation | Refusal>;
};

/** The service's own pipeline, in the order in which it runs; other people's plugins run around it. */
export function servicePlugins(parts: PipelineParts): readonly ServicePlugin[] {
  return [useAdmission(parts.admission), useCompiledExecution(parts)];
}

/** Limits of the client, parameters, document, values, cost and memory, by one typed function; of the text nothing is done twice. */
function useAdmission(admission: AdmissionParts): ServicePlugin {
  return {
    onRequested: ({ caller, transport }) => admit(admission, caller, transport),
    onParse({ context, setParsedDocument }) {
      setParsedDocument(context[GRAPH].operation.document.document);
    },
    onValidate({ setValidationFn }) {
      setValidationFn(validateFurther);
    },
  };
}

/**
 * Executes: from the cache, by compiled code, in parts, or as events. It masks what it makes itself: other people's results keep
 * what their errors say. Parts and events are masked as they are made.
 */
function useCompiledExecution({ execution, codes, hasOthers }: PipelineParts): ServicePlugin {
  const masked = (context: OperationContext, result: Subscribed): Subscribed =>
    Symbol.asyncIterator in result
      ? result
      : codes.maskedResult(result, context.operation.transport.record);
  function subscribe(context: OperationContext): MaybePromise<Subscribed> {
    if (!hasOthers) return execution.subscribe(context);
    return chain(execution.subscribe(context, eventContexts), (outcome) =>
      outcome instanceof FollowedEvents ? new IteratedEvents(outcome) : outcome,
    );
  }
  return {
    onExecute({ setExecuteFn }) {
      setExecuteFn((args) => {
        const context = admittedContext(args);
        const executing = runInCore(() => execution.execute(context));
        return chain(executing, (result) => masked(context, result));
      });
    },
    onSubscribe({ setSubscribeFn }) {
      setSubscribeFn((args) => {
        const context = admittedContext(args);
        const subscribing = runInCore(() => subscribe(context));
        return chain(subscribing, (result) => masked(context, result));
      });
    },
  };
}

const OF_SPECIFICATION: ReadonlySet<unknown> = new Set(specifiedRules);

/** The specification's own rules have passed. */
const validateFurther: typeof validate = (schema, document, rules = [], ...more) => {
  const others = rules.filter((rule) => !OF_SPECIFICATION.has(rule));
  return others.length === 0 ? [] : validate(schema, document, others, ...more);
};

function contextOf({ contextValue }: { readonly contextValue?: unknown }): OperationContext {
  return (contextValue as PluginContext)[GRAPH];
}

/** The context of what was admitted: a plugin may copy its document, but neither change it nor the variables. */
function admittedContext(args: ExecutionArgs): OperationContext {
  const context = contextOf(args);
  const { document: prepared, params } = context.operation;
  const known = prepared.document;
  const isKnown = args.document === known || print(args.document) === print(known);
  if (isKnown && args.variableValues === params.variables) return context;
  throw new Error('another document, or other variables, than were admitted');
}
