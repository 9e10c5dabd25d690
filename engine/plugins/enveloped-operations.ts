import { envelop, type Plugin, useSchema } from '@envelop/core';
import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLSchema,
  print,
  validate,
} from 'graphql';
import { asGuest, asHost } from '../../lib/guest-code.ts';
import type { MaybePromise } from '../../lib/maybe-promise.ts';
import type { OperationContext } from '../admission/operation-context.ts';
import type { Subscribed } from '../execution/begin-events.ts';
import type { Execution, OpenedOperation } from '../execution/execution.ts';
import { beginTrace } from '../execution/operation-traces.ts';
import type { ErrorCodes } from '../operation/error-codes.ts';
import { type Fallback, OF_DOCUMENT, type Refusal, withHeaders } from '../operation/refusal.ts';
import type { PluginErrorBoundary } from './error-boundary.ts';
import type { OpenPlugins } from './open-plugins.ts';
import {
  admittedView,
  eventContexts,
  GRAPH,
  type PluginContext,
  type PluginView,
} from './plugin-view.ts';

interface EnvelopedParts {
  readonly schema: GraphQLSchema;
  readonly execution: Execution;
  readonly codes: ErrorCodes;
  readonly plugins: OpenPlugins;
}

/** Envelop's functions for one operation; they return a promise only where a plugin waits. */
interface Enveloped {
  parse(query: string): DocumentNode;
  validate(schema: GraphQLSchema, document: DocumentNode): readonly Error[];
  contextFactory(): MaybePromise<unknown>;
  execute(args: ExecutionArgs): MaybePromise<ExecutionResult>;
  subscribe(args: ExecutionArgs): MaybePromise<Subscribed>;
}

/** Runs other people's hooks around the execution of what was admitted, by envelop, synchronously where none waits. */
export function envelopOperations(parts: EnvelopedParts, pluginErrors: PluginErrorBoundary) {
  const { schema, codes, plugins, execution } = parts;
  // A plugin that wraps is run before those that stand before it in the list.
  const all = [useSchema(schema), useExecution(execution), pluginErrors.useOutcomes()];
  const enveloped = envelop({ plugins: [...(all as Plugin[]), ...plugins.hooks] });
  const getEnveloped = enveloped as unknown as (view: object) => Enveloped;
  const asTheirs = <Result>(run: () => Result) => asGuest(plugins.guest, run);

  return (context: OperationContext, view: PluginView): MaybePromise<OpenedOperation | Refusal> => {
    const { operation } = context;
    const { params, prepared, headers, transport } = operation;
    const failed = (error: unknown, fallback?: Fallback) =>
      withHeaders(codes.refusal(error, transport.record, fallback), headers);
    try {
      const enveloped = asTheirs(() => getEnveloped(admittedView(view, context)));
      const document = asTheirs(() => enveloped.parse(params.query));
      const errors = asTheirs(() => enveloped.validate(schema, document));
      if (errors.length > 0) return failed(new AggregateError(errors), OF_DOCUMENT);
      const ready = (contextValue: unknown) => {
        const { variables, operationName } = params;
        const args = { schema, document, contextValue, variableValues: variables, operationName };
        const start = () =>
          prepared.node.operation === 'subscription'
            ? pluginErrors.subscribe(context, () => asTheirs(() => enveloped.subscribe(args)))
            : pluginErrors.execute(context, () => asTheirs(() => enveloped.execute(args)));
        return { operation, start };
      };
      const building = asTheirs(() => enveloped.contextFactory());
      return building instanceof Promise ? building.then(ready).catch(failed) : ready(building);
    } catch (error) {
      return failed(error);
    }
  };
}

/** The innermost plugin, which executes. */
function useExecution(execution: Execution): Plugin<PluginContext> {
  return {
    onParse({ context, setParsedDocument }) {
      setParsedDocument(context[GRAPH].operation.document.document);
    },
    onValidate({ setValidationFn }) {
      setValidationFn(validateFurther);
    },
    onExecute({ args, setExecuteFn }) {
      asHost(() => beginTrace(args.contextValue[GRAPH].operation));
      setExecuteFn((given) => asHost(() => execution.execute(admittedContext(given))));
      return {
        onExecuteDone: ({ result, setResult }) =>
          setResult(asHost(() => execution.ended(args.contextValue[GRAPH], result))),
      };
    },
    onSubscribe({ args, setSubscribeFn }) {
      asHost(() => beginTrace(args.contextValue[GRAPH].operation));
      setSubscribeFn((given) =>
        asHost(() => execution.subscribe(admittedContext(given), eventContexts)),
      );
      return {
        onSubscribeResult: ({ result }) =>
          asHost(() => {
            execution.ended(args.contextValue[GRAPH], result);
          }),
      };
    },
  };
}

/** The specification's own rules have passed. */
const validateFurther: typeof validate = (schema, document, rules = [], ...more) =>
  rules.length === 0 ? [] : validate(schema, document, rules, ...more);

/** The context of what was admitted: a plugin may copy its document, but neither change it nor the variables. */
function admittedContext({
  document,
  variableValues,
  contextValue,
}: ExecutionArgs): OperationContext {
  const { [GRAPH]: context } = contextValue as PluginContext;
  const { document: prepared, params } = context.operation;
  const known = prepared.document;
  const isKnown = document === known || print(document) === print(known);
  if (isKnown && variableValues === params.variables) return context;
  throw new Error('another document, or other variables, than were admitted');
}
