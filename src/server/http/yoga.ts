import { type ExecutionResult, GraphQLError } from 'graphql';
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import type { Engine } from '../../engine/engine.ts';
import type { IncomingRequest, Ready } from '../../engine/opened-operation.ts';
import { parseExactJson } from '../../lib/exact-json.ts';
import type { Body } from '../../lib/pack.ts';
import type { Refused } from '../../plugins/request.ts';
import type { CatalogAnswer } from '../../plugins/response-cache/catalog-answer.ts';
import { requestError } from '../../schema/public-error.ts';
import { readQueryString } from './query-string.ts';

/** The context that yoga passes along with a request. */
export interface YogaContext extends Record<string, unknown> {
  readonly incoming: IncomingRequest;
  readonly reply: YogaReply;
}

/** Results beside yoga's own response; filled while it executes. */
export interface YogaReply {
  headers: Readonly<Record<string, string>>;
  /** The answer itself, where it is made of the catalog alone. */
  catalog: CatalogAnswer | null;
  /** The serialized answer of a query or a mutation, sent in place of yoga's stand-in. */
  text: Body | null;
  /** A subscription, which is answered without yoga. */
  subscription: Ready | null;
}

type Yoga = YogaServerInstance<YogaContext, Record<never, never>>;

export interface YogaOptions {
  readonly engine: Engine;
  readonly maxBodyBytes: number;
}

/**
 * GraphQL over HTTP as specified: methods, malformed requests, status codes. Yoga implements the
 * specification; limits and execution are the engine's. The media type is chosen before: yoga ignores weights.
 */
export function createGraphQLOverHttp({ engine, maxBodyBytes }: YogaOptions): Yoga {
  return createYoga<YogaContext>({
    graphqlEndpoint: '/graphql',
    plugins: [useEngine(engine), useOurCodes(engine)],
    // These are done elsewhere, for all transports.
    cors: false,
    graphiql: false,
    landingPage: false,
    healthCheckEndpoint: '/health/none',
    parserAndValidationCache: false,
    maskedErrors: false,
    batching: false,
    multipart: false,
    maxRequestBodySize: maxBodyBytes,
    logging: false,
  });
}

function useEngine(engine: Engine): Plugin<YogaContext> {
  return {
    onRequestParse({ request, requestParser, setRequestParser }) {
      // Yoga's own parser drops parameters that it does not know, such as `documentId`.
      if (request.method === 'GET') setRequestParser(({ url }) => readQueryString(url));
      else if (requestParser) setRequestParser((posted) => requestParser(readingExactly(posted)));
    },
    onParams({ params, setParams, setParamsHandler }) {
      // Yoga checks the parameters with no hook to leave that out: it gets a stand-in, since the engine
      // has the same checks for every transport.
      setParams({ query: '{ __typename }' });
      setParamsHandler(async ({ context }) => {
        const { incoming, reply } = context as unknown as YogaContext;
        const operation = await engine.open(params, incoming);
        reply.headers = operation.headers;
        if (!operation.ready) return refusal(operation);
        if (operation.operation !== 'subscription') return resultOf(operation, reply);
        reply.subscription = operation;
        return STAND_IN;
      });
    },
  };
}

/** Yoga's JSON parser calls nothing but `json()` of the request. */
function readingExactly(request: Request): Request {
  return { json: async () => parseExactJson(await request.text()) } as Request;
}

async function resultOf(operation: Ready, reply: YogaReply): Promise<ExecutionResult> {
  const answer = operation.readsCatalogOnly
    ? await operation.answerFromCatalog(undefined)
    : await operation.execute();
  if ('etag' in answer) {
    reply.catalog = answer;
    reply.text = answer.bytes;
    return STAND_IN;
  }
  reply.text = await operation.text(answer);
  return answer.errors ? withPlainErrors({ ...STAND_IN, errors: answer.errors }) : STAND_IN;
}

// Yoga chooses status and media type for this stand-in; it would serialize a large result in one piece.
const STAND_IN: ExecutionResult = { data: {} };

/** Yoga rebuilds GraphQLErrors from the properties it knows; plain objects it leaves alone. */
function withPlainErrors(result: ExecutionResult): ExecutionResult {
  if (!result.errors || !('data' in result)) return result;
  const errors = result.errors.map((error) => error.toJSON());
  return { ...result, errors: errors as unknown as GraphQLError[] };
}

function refusal({ errors, status, isWellFormed }: Refused): ExecutionResult {
  return {
    errors: errors.map(
      (error) =>
        new GraphQLError(error.message, {
          nodes: error.nodes ?? null,
          source: error.source ?? null,
          positions: error.positions ?? null,
          // Yoga's own extension, which it removes again: `spec` lets plain JSON clients have a 200.
          extensions: {
            ...error.extensions,
            http: { status, spec: isWellFormed && status === 400 },
          },
        }),
    ),
  };
}

/** Adds our error codes to requests that yoga refuses by itself, before the engine sees them. */
function useOurCodes(engine: Engine): Plugin<YogaContext> {
  return {
    onResultProcess({ result, setResult, serverContext }) {
      if (Array.isArray(result) || Symbol.asyncIterator in result) return;
      const { errors } = result as ExecutionResult;
      if (!errors?.some(isForeign)) return;
      const coded = errors.map((error) => (isForeign(error) ? ours(error) : error));
      const { summary } = (serverContext as unknown as YogaContext).incoming;
      engine.refused(
        coded.filter((_, at) => isForeign(errors[at] as GraphQLError)),
        summary,
      );
      setResult({ ...result, errors: coded });
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
  return status === 413
    ? requestError('PAYLOAD_TOO_LARGE', 'The body is too large.', { http })
    : requestError('GRAPHQL_PARSE_FAILED', unquoted(error.message), { http });
}

/** Removes what a JSON parser quotes of its input, which may be a password. */
function unquoted(message: string): string {
  return message.replace(/".*"/s, '[…]');
}
