import { type ExecutionResult, GraphQLError } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import type { Graph } from '../../graph.ts';
import type { GraphContext } from '../../graph-context.ts';
import { parseExactJson } from '../../lib/exact-json.ts';
import type { Refusal } from '../../plugins/refusal.ts';
import { useWrittenResults } from '../../plugins/results/use-written-results.ts';
import { requestError } from '../../schema/public-error.ts';
import { readQueryString } from './query-string.ts';

export interface YogaAnswer {
  readonly response: Response;
  /** The result that it was made of; undefined where yoga refused the request. */
  readonly outcome: unknown;
}

export type YogaHandler = (context: GraphContext) => Promise<YogaAnswer>;

/**
 * GraphQL over HTTP as specified: methods, malformed requests, status codes. Yoga runs the same plugins as
 * the direct path. The media type is chosen before: yoga ignores weights.
 */
export function createYogaHandler(graph: Graph): YogaHandler {
  const outcomes = new WeakMap<object, unknown>();
  const yoga = createYoga<GraphContext>({
    graphqlEndpoint: '/graphql',
    schema: graph.schema,
    plugins: [
      useAdmission(graph),
      ...graph.plugins,
      // Other transports write large results themselves.
      useWrittenResults(),
      useOurErrors(graph),
      {
        onExecutionResult({ result, context }) {
          outcomes.set((context as unknown as GraphContext).operation, result);
        },
      },
    ],
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
  return async (context) => {
    const response = await yoga.fetch(context.request as Request, context);
    return { response, outcome: outcomes.get(context.operation) };
  };
}

/** Reads the parameters, and has the graph's plugins admit them, which other transports do by `open`. */
function useAdmission(graph: Graph): Plugin<GraphContext> {
  return {
    onRequestParse({ request: { method }, requestParser, setRequestParser }) {
      // Yoga's own parsers drop parameters that they do not know, and round numbers.
      if (method === 'GET') setRequestParser(({ url }) => readQueryString(url));
      else if (requestParser) setRequestParser(readBody);
    },
    async onParams({ params, setParams, context }) {
      const given = context as unknown as GraphContext;
      given.operation.sent = params;
      const refusal = await graph.admit(given);
      if (refusal !== null) throw new AggregateError(refusal.errors.map(withStatus(refusal)));
      const { query, variables, operationName } = given.operation.params;
      setParams({
        query: query ?? '',
        variables,
        ...(operationName !== null && { operationName }),
      });
    },
  };
}

async function readBody(request: Request) {
  const text = await request.text();
  try {
    return parseExactJson(text) as Record<string, unknown>;
  } catch {
    throw new GraphQLError('The body is not JSON.', { extensions: { http: { status: 400 } } });
  }
}

/** Yoga takes the status from an extension, which it removes again. `spec` lets plain JSON clients have a 200. */
function withStatus({ status, headers, isWellFormed }: Refusal) {
  return ({ message, nodes, source, positions, extensions }: GraphQLError) =>
    new GraphQLError(message, {
      nodes: nodes ?? null,
      source: source ?? null,
      positions: positions ?? null,
      extensions: {
        ...extensions,
        http: { status, headers, spec: isWellFormed && status === 400 },
      },
    });
}

/** Adds our error codes to requests that yoga refuses by itself, and serializes errors as they are. */
function useOurErrors(graph: Graph): Plugin<GraphContext> {
  return {
    onResultProcess({ result, setResult, serverContext }) {
      if (Array.isArray(result) || 'stringify' in result) return;
      const { errors } = result as ExecutionResult;
      if (errors === undefined) return;
      if ('data' in result) {
        // Yoga would make new errors of the properties that it knows.
        setResult({ ...result, stringify: () => JSON.stringify(result) });
        return;
      }
      const foreign = errors.filter(isForeign);
      if (foreign.length === 0) return;
      graph.refused(
        foreign.map(ours),
        (serverContext as unknown as GraphContext).operation.transport.record,
      );
      setResult({ ...result, errors: errors.map((each) => (isForeign(each) ? ours(each) : each)) });
    },
  };
}

function isForeign(error: GraphQLError): boolean {
  return error.extensions?.retryable === undefined;
}

function ours(error: GraphQLError): GraphQLError {
  const foreign = error.extensions?.http as { status?: number; headers?: object } | undefined;
  const status = foreign?.status ?? 400;
  // Without `spec`: an invalid HTTP request is a 4xx, whichever media type it accepts.
  const http = { status, headers: foreign?.headers };
  return requestError('GRAPHQL_PARSE_FAILED', unquoted(error.message), { http });
}

/** Removes what a JSON parser quotes of its input, which may be a password. */
function unquoted(message: string): string {
  return message.replace(/".*"/s, '[…]');
}
