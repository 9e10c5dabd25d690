import type { ExecutionResult } from 'graphql';
import type { Plugin, YogaServerInstance } from 'graphql-yoga';
import type { RequestCaller } from '../../lib/caller.ts';
import type { MaybePromise } from '../../lib/maybe-promise.ts';
import type { Operation } from '../admission/operation.ts';
import { isRefusal, OF_REQUEST, type Refusal } from '../operation/refusal.ts';
import type { TransportContext } from '../operation/transport-context.ts';
import type { PluginErrorBoundary } from './error-boundary.ts';
import { type OpenedOperation, PluginView, REQUEST } from './plugin-view.ts';

/** The result or the refusal that a response stands for, and the events of a subscription. */
type Settled = ExecutionResult | Refusal | AsyncIterable<ExecutionResult>;

/** The answer to a request over HTTP: a response of a plugin's own, or an outcome, and the response that hooks have made of it. */
export type HttpAnswer = { readonly operation: Operation | null } & (
  | { readonly outcome: object; readonly response: Response | null }
  | { readonly outcome: undefined; readonly response: Response }
);

type Open = (
  caller: RequestCaller,
  transport: TransportContext,
  view: PluginView,
) => MaybePromise<OpenedOperation | Refusal>;

/**
 * Has yoga call the hooks of HTTP that plugins have. The parameters are read by then and the answer is written elsewhere, as
 * for every request: yoga's ways to read one, to execute it and to write its result are replaced by these two plugins.
 */
export function createHttpHooks(pluginErrors: PluginErrorBoundary, open: Open) {
  const outcomes = new WeakMap<Response, Settled>();
  const sent = new WeakMap<object, unknown>();
  /** A hook may have put something in a result's place: the one conversion of errors takes it. */
  const settled = ({ transport }: PluginView[typeof REQUEST], result: Settled): Settled =>
    Symbol.asyncIterator in result || isRefusal(result)
      ? result
      : pluginErrors.checked(transport.record, result, OF_REQUEST);

  const first: Plugin = {
    onRequestParse({ serverContext, setRequestParser }) {
      const { transport } = (serverContext as unknown as PluginView)[REQUEST];
      setRequestParser(() => transport.sent as Record<string, unknown>);
    },
    onParams({ setParamsHandler }) {
      setParamsHandler(async ({ request, params: known, context }) => {
        const view = context as unknown as PluginView;
        const { caller, transport } = view[REQUEST];
        const params = (sent.has(known) ? sent.get(known) : known) as typeof known;
        Object.assign(view, { request, params });
        const opened = await open(caller, { ...transport, sent: params }, view);
        return opened.kind === 'refusal' ? opened : opened.start();
      });
    },
    onResultProcess({ setResultProcessor, serverContext }) {
      const request = (serverContext as unknown as PluginView)[REQUEST];
      setResultProcessor((result, { Response: Made }) => {
        const outcome = settled(request, result as Settled);
        const response = new Made(bodyOf(outcome), {
          status: isRefusal(outcome) ? outcome.status : 200,
          headers: { 'content-type': 'application/json' },
        });
        outcomes.set(response, outcome);
        return response;
      }, 'application/json');
    },
  };
  /** Yoga knows a part of the parameters only, and words their faults otherwise: all are checked on admission. */
  const last: Plugin = {
    onParams({ params, setParams }) {
      const { query } = (params ?? {}) as { readonly query?: unknown };
      const known = { query: typeof query === 'string' ? query : '' };
      sent.set(known, params);
      setParams(known);
    },
  };

  return {
    first,
    last,
    around:
      (yoga: Pick<YogaServerInstance<object, object>, 'fetch'>) =>
      async (caller: RequestCaller, transport: TransportContext): Promise<HttpAnswer> => {
        const view = new PluginView(caller, transport);
        const fetch = async () => yoga.fetch(view.request as Request, view);
        const response = await fetch().catch((error: unknown) => {
          // A hook has failed that yoga does not guard.
          const none = new Response(null);
          outcomes.set(none, pluginErrors.failed(transport.record, error, OF_REQUEST));
          return none;
        });
        const outcome = outcomes.get(response);
        const { operation } = view[REQUEST];
        if (operation !== null && outcome !== undefined && Symbol.asyncIterator in outcome)
          pluginErrors.contain(operation, outcome);
        return { operation, outcome, response };
      },
  };
}

function bodyOf(outcome: Settled): string | null {
  if (Symbol.asyncIterator in outcome) return null;
  const { errors, data, extensions } = outcome as ExecutionResult;
  return JSON.stringify({ errors, data, extensions });
}
