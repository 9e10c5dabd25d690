import {
  type ExecutionResult,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
} from 'graphql';
import type { Caller } from '../../src/gateway/caller.ts';
import { Graph, type GraphOptions } from '../../src/graph.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { FairScheduler } from '../../src/lib/fair-scheduler.ts';
import type { Client } from '../../src/lib/limits/client.ts';
import { createLog } from '../../src/lib/log.ts';
import { PullStream } from '../../src/lib/pull-stream.ts';
import { Documents } from '../../src/plugins/documents/documents.ts';
import { ErrorCodes } from '../../src/plugins/errors/error-codes.ts';
import { createEventPace } from '../../src/plugins/live/event-pace.ts';
import type { TransportContext } from '../../src/plugins/operation.ts';
import { type GivenPlugin, openPlugins } from '../../src/plugins/others/open-plugins.ts';
import { ResponseCache } from '../../src/plugins/response-cache/response-cache.ts';
import { PersistedTexts } from '../../src/plugins/trusted-documents/use-trusted-documents.ts';
import { perInstrument } from '../../src/schema/list-sizes.ts';
import type { Services } from '../../src/schema/services.ts';
import { createTestLimiter } from './limits.ts';

const numbers = new GraphQLList(
  new GraphQLObjectType({ name: 'N', fields: { n: { type: GraphQLInt } } }),
);
const first = { first: { type: new GraphQLNonNull(GraphQLInt) } };
const size = new GraphQLInputObjectType({
  name: 'Size',
  isOneOf: true,
  fields: { units: { type: GraphQLInt }, lots: { type: GraphQLInt } },
});
const rows = (length: number) => Array.from({ length }, (_, n) => ({ n }));

interface Catalogs {
  readonly services: { readonly catalogs: { readonly heldSize: number } };
}

/** Fields that need nobody: numbers, a failure, a write, and a subscription of one event. */
export const smallSchema = new GraphQLSchema({
  query: new GraphQLObjectType({
    name: 'Query',
    fields: {
      all: {
        type: numbers,
        // As many as the catalog is said to have, which the cost estimates.
        extensions: perInstrument,
        resolve: (_root, _args, { services }: Catalogs) => rows(services.catalogs.heldSize),
      },
      one: { type: GraphQLInt, resolve: () => 1 },
      fails: {
        type: GraphQLInt,
        resolve() {
          throw new Error('a secret');
        },
      },
      sized: { type: GraphQLInt, args: { size: { type: size } }, resolve: () => 4 },
      numbers: { type: numbers, args: first, resolve: (_root, args) => rows(args.first) },
    },
  }),
  mutation: new GraphQLObjectType({
    name: 'Mutation',
    fields: { write: { type: GraphQLInt, resolve: () => 2 } },
  }),
  subscription: new GraphQLObjectType({
    name: 'Subscription',
    fields: {
      foreign: { type: GraphQLInt, async *subscribe() {} },
      tick: { type: GraphQLInt, subscribe: () => ticks(), resolve: () => 3 },
      broken: {
        type: GraphQLInt,
        subscribe() {
          throw new Error('a secret');
        },
      },
    },
  }),
});

function ticks(): PullStream<object> {
  let left = 1;
  return new PullStream({
    open() {},
    take: () => (left-- > 0 ? {} : undefined),
    close() {},
  });
}

export const client: Client = {
  kind: 'account',
  key: 'account 1',
  login: '1',
  parts: [{ key: 'account 1', share: 1 }],
};

/** The list of plugins as the service has it, over the small schema; every limit is wide unless given. */
export function smallGraph(
  {
    plugins = [],
    clientNow = () => client,
    isKnown = false,
    ...given
  }: Partial<Omit<GraphOptions, 'plugins'>> & {
    readonly plugins?: readonly GivenPlugin[];
    readonly clientNow?: () => Client;
    /** Whether every token is one that nobody has made up. */
    readonly isKnown?: boolean;
  } = {},
  length = 1,
) {
  const counted: string[] = [];
  const limiter = given.limiter ?? createTestLimiter();
  const scheduler = given.scheduler ?? new FairScheduler();
  const documents = new Documents({
    schema: smallSchema,
    limits: { maxTokens: 4_000, maxDepth: 15, maxAliases: 30, maxDirectives: 20 },
    introspection: true,
  });
  const log = createLog({ level: 'silent', format: 'json', destination: { write() {} } });
  const graph = new Graph({
    schema: smallSchema,
    services: {
      catalogs: { heldSize: length },
      clientOf: clientNow,
      known: { hasHere: () => isKnown },
    } as unknown as Services,
    limiter,
    trusted: { trusted: null, registered: new PersistedTexts(), trustedOnly: 'off', log },
    documents,
    maxCost: 100_000,
    scheduler,
    pace: createEventPace(limiter, systemClock),
    responses: new ResponseCache(),
    codes: new ErrorCodes(log, {
      error: (code) => void counted.push(String(code)),
      refusal: (limit) => void counted.push(String(limit)),
    }),
    traces: false,
    receipts: false,
    plugins: openPlugins(smallSchema, plugins, log),
    isMemoryShort: () => false,
    ...given,
  });

  function contextFor(
    sent: unknown,
    transport: Partial<TransportContext> = {},
    caller: Partial<Caller> = {},
  ) {
    const record = {
      requestId: 'request-1',
      trace: null,
      type: null,
      isTrusted: false,
      operationName: null,
      login: null,
      failed() {},
      called() {},
    };
    return graph.context(
      { token: null, ...caller },
      {
        sent: typeof sent === 'string' ? { query: sent } : sent,
        mayMutate: true,
        takesEvents: true,
        takesBytes: false,
        ifNoneMatch: undefined,
        reportsEnd: undefined,
        toRequest: undefined,
        ...transport,
        record: { ...record, ...transport.record },
      },
    );
  }

  /** The refusal of an operation, or its result. */
  async function run(
    sent: unknown,
    transport?: Partial<TransportContext>,
    caller?: Partial<Caller>,
  ) {
    const opened = await graph.open(contextFor(sent, transport, caller));
    if ('errors' in opened) return { refusal: opened };
    return { result: await opened.execute() };
  }

  /** The codes of a refusal, or of a result, and the status; 200 of a result. */
  async function codes(...args: Parameters<typeof run>) {
    const { refusal, result } = await run(...args);
    const { errors = [] } = refusal ?? (result as ExecutionResult);
    return {
      status: refusal?.status ?? 200,
      codes: errors.map(({ extensions }) => extensions.code),
    };
  }

  return { graph, counted, contextFor, run, codes };
}
