import { type ExecutionResult, GraphQLError } from 'graphql';
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import type { CatalogAnswer } from '../engine/catalog/catalog-answer.ts';
import type { Engine } from '../engine/engine.ts';
import type { IncomingRequest, Ready } from '../engine/opened-operation.ts';
import type { Refused } from '../engine/refusal.ts';
import { parseExactJson } from '../lib/exact-json.ts';
import { mapStream } from '../lib/map-stream.ts';
import { requestError } from '../schema/public-error.ts';
import { readQueryString } from './query-string.ts';

/** What yoga is told of one request beside the request itself. */
export interface YogaContext extends Record<string, unknown> {
  readonly incoming: IncomingRequest;
  /** The operation, where it was opened before yoga had to be asked. */
  readonly opened: Ready | Refused | null;
  readonly reply: YogaReply;
}

/** What yoga's own answer has no room for; filled while it is made. */
export interface YogaReply {
  headers: Readonly<Record<string, string>>;
  /** The very answer where it was made of the catalog alone. */
  catalog: CatalogAnswer | null;
  /** A query's or a mutation's answer as it is sent, in place of the one that yoga knows. */
  text: string | Buffer | null;
  /** A stream that goes on until somebody ends it; a query's ends by itself. */
  isLive: boolean;
}

type Yoga = YogaServerInstance<YogaContext, Record<never, never>>;

export interface YogaOptions {
  readonly engine: Engine;
  readonly maxBodyBytes: number;
}

/**
 * GraphQL over HTTP by the book: methods, media types, status codes, event streams. Yoga knows the
 * book; what a document may do and what it answers is the engine's.
 */
export function createGraphQLOverHttp({ engine, maxBodyBytes }: YogaOptions): Yoga {
  return createYoga<YogaContext>({
    graphqlEndpoint: '/graphql',
    plugins: [useEngine(engine), useOurCodes()],
    // Each of these is done for all transports elsewhere.
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
      // Yoga's own reader leaves out what it does not know, such as a document's id.
      if (request.method === 'GET') setRequestParser(({ url }) => readQueryString(url));
      else if (requestParser) setRequestParser((posted) => requestParser(readingExactly(posted)));
    },
    onParams({ params, setParams, setParamsHandler }) {
      // Yoga's own checks of the parameters are passed by: the engine has the same for every door.
      setParams({ query: '{ __typename }' });
      setParamsHandler(async ({ context }) => {
        const { incoming, opened, reply } = context as unknown as YogaContext;
        const operation = opened ?? (await engine.open(params, incoming));
        reply.headers = operation.headers;
        if (!operation.ready) return refusal(operation);
        if (operation.operation !== 'subscription') return resultOf(operation, reply);
        const stream = await operation.subscribe();
        if (!(Symbol.asyncIterator in stream)) return withPlainErrors(stream);
        reply.isLive = true;
        return mapStream(stream, { value: withPlainErrors });
      });
    },
  };
}

/** Of a request with a body of JSON yoga's reader wants nothing but that. */
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

// Yoga writes an answer in one piece, which a large one must not be: it chooses status and media type.
const STAND_IN: ExecutionResult = { data: {} };

/** Yoga makes errors anew from what it knows of them; what is plain it leaves alone. */
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
          // Yoga's own notation, which it takes out again: `spec` lets plain JSON clients have a 200.
          extensions: {
            ...error.extensions,
            http: { status, spec: isWellFormed && status === 400 },
          },
        }),
    ),
  };
}

/** What yoga refuses by itself, before the engine sees it, speaks with our codes as well. */
function useOurCodes(): Plugin<YogaContext> {
  return {
    onResultProcess({ result, setResult }) {
      if (Array.isArray(result) || Symbol.asyncIterator in result) return;
      const { errors } = result as ExecutionResult;
      if (!errors?.some(isForeign)) return;
      setResult({
        ...result,
        errors: errors.map((error) => (isForeign(error) ? ours(error) : error)),
      });
    },
  };
}

function isForeign(error: GraphQLError): boolean {
  return error.extensions?.retryable === undefined;
}

function ours(error: GraphQLError): GraphQLError {
  const foreign = error.extensions?.http as { status?: number; headers?: object } | undefined;
  const status = foreign?.status ?? 400;
  // Without yoga's `spec`: these requests are none, whichever media type they ask for.
  const http = { status, headers: foreign?.headers };
  return status === 413
    ? requestError('PAYLOAD_TOO_LARGE', 'The body is too large.', { http })
    : requestError('GRAPHQL_PARSE_FAILED', unquoted(error.message), { http });
}

/** A parser quotes what it could not read, which may be somebody's password. */
function unquoted(message: string): string {
  return message.replace(/".*"/s, '[…]');
}
