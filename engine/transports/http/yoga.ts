import { type ExecutionResult, GraphQLError } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import type { RequestCaller } from '../../../lib/caller.ts';
import { parseExactJson } from '../../../lib/exact-json.ts';
import { OF_REQUEST, type Refusal } from '../../operation/refusal.ts';
import type { RequestSummary } from '../../operation/request-summary.ts';
import type { TransportContext } from '../../operation/transport-context.ts';
import type { Graph } from '../../plugins/graph.ts';
import { PluginView, REQUEST } from '../../plugins/plugin-view.ts';
import { readQueryString } from './query-string.ts';

/** The result or the refusal that a response stands for, and the events of a subscription. */
type Settled = ExecutionResult | Refusal | AsyncIterable<unknown>;

export type YogaHandler = ReturnType<typeof createYogaHandler>;

/** Yoga's handler of HTTP, whose hooks other plugins have; the graph itself executes, as it does for every transport. */
export function createYogaHandler(graph: Graph) {
  const outcomes = new WeakMap<Response, Settled>();
  const sent = new WeakMap<object, unknown>();
  const yoga = createYoga({
    graphqlEndpoint: '/graphql',
    schema: graph.schema,
    plugins: [useGraph(graph, sent, outcomes), ...graph.plugins.http, useKnownParams(sent)],
    // These are done elsewhere, for all transports.
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
  /** There is no outcome of a response that a plugin, or yoga, made by itself, and no operation where nothing was admitted. */
  return async (caller: RequestCaller, transport: TransportContext) => {
    const view = new PluginView(caller, transport);
    const fetch = async () => yoga.fetch(view.request as Request, view);
    const response = await fetch().catch((error: unknown) => {
      // A hook has failed that yoga does not guard.
      const none = new Response(null);
      outcomes.set(none, graph.pluginErrors.failed(transport.record, error, OF_REQUEST));
      return none;
    });
    return { response, outcome: outcomes.get(response), operation: view[REQUEST].operation };
  };
}

/** Replaces yoga's ways to read a request, to execute it and to write its result by those of all transports. */
function useGraph(
  graph: Graph,
  sent: WeakMap<object, unknown>,
  outcomes: WeakMap<Response, Settled>,
): Plugin {
  return {
    onRequestParse({ request: { method }, requestParser, setRequestParser }) {
      // Yoga's own parsers drop parameters that they do not know, and round numbers.
      if (method === 'GET') setRequestParser(readQuery);
      else if (requestParser) setRequestParser(readBody);
    },
    onParams({ setParamsHandler }) {
      setParamsHandler(async ({ request, params: known, context }) => {
        const view = context as unknown as PluginView;
        const { caller, transport } = view[REQUEST];
        const params = (sent.has(known) ? sent.get(known) : known) as typeof known;
        Object.assign(view, { request, params });
        const opened = await graph.open(caller, { ...transport, sent: params }, view);
        return 'errors' in opened ? opened : opened.start();
      });
    },
    onResultProcess({ setResultProcessor, serverContext }) {
      const { record } = (serverContext as unknown as PluginView)[REQUEST].transport;
      setResultProcessor((result, { Response: Made }) => {
        const outcome = settled(graph, record, result as Settled);
        const response = new Made(graph.plugins.http.length > 0 ? bodyOf(outcome) : null, {
          status: 'status' in outcome ? outcome.status : 200,
          headers: { 'content-type': 'application/json' },
        });
        outcomes.set(response, outcome);
        return response;
      }, 'application/json');
    },
  };
}

/** Hooks of HTTP may have thrown, or put something in a result's place: the one conversion of errors takes it. */
function settled(graph: Graph, record: RequestSummary, result: Settled): Settled {
  if (Symbol.asyncIterator in result || 'isWellFormed' in result) return result;
  return graph.pluginErrors.checked(record, result, OF_REQUEST);
}

function bodyOf(outcome: Settled): string | null {
  if (Symbol.asyncIterator in outcome) return null;
  const { errors, data, extensions } = outcome as ExecutionResult;
  return JSON.stringify({ errors, data, extensions });
}

/** Yoga knows a part of the parameters only, and words their faults otherwise: all are checked on admission. */
function useKnownParams(sent: WeakMap<object, unknown>): Plugin {
  return {
    onParams({ params, setParams }) {
      const { query } = (params ?? {}) as { readonly query?: unknown };
      const known = { query: typeof query === 'string' ? query : '' };
      sent.set(known, params);
      setParams(known);
    },
  };
}

function readQuery({ url }: Request) {
  try {
    return readQueryString(url);
  } catch {
    throw unreadable('`variables` and `extensions` are JSON.');
  }
}

async function readBody(request: Request) {
  const text = await request.text();
  try {
    return parseExactJson(text) as Record<string, unknown>;
  } catch {
    throw unreadable('The body is not JSON.');
  }
}

function unreadable(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { http: { status: 400 } } });
}
