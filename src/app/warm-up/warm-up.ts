import type { GraphQLSchema } from 'graphql';
import type { Config } from '../../config.ts';
import { systemClock, within } from '../../lib/clock.ts';
import { createLog } from '../../lib/log.ts';
import type { Documents } from '../../plugins/documents/documents.ts';
import type { AppOptions, StartOptions } from '../app-options.ts';
import { startEmbeddedSandbox } from '../embedded-sandbox.ts';
import type { Resources } from '../open-resources.ts';
import { Connection } from './connection.ts';
import { USUAL_DOCUMENTS } from './documents.ts';
import { RecordedGateway } from './recorded-gateway.ts';
import { requestOf } from './request.ts';
import { sampleVariables } from './sample-variables.ts';

// Readiness waits for it; what is not warm by then becomes so with the first requests.
const MOST_MS = 2_800;
const ENOUGH_MS = 2_300;
// More than a fast machine gets through until then.
const ENOUGH_ROUNDS = 250;
const MOST_TRUSTED = 100;
// V8 throws away code that it compiled for one service alone as soon as another one is queried.
const SERVICES = 2;
const CONNECTIONS_EACH = 2;
const INSTRUMENTS = 300;
const EMAIL = 'pro@example.com';
const INSTRUMENT = 'AAPL';
// Lines are formatted as the service's own are, and dropped.
const UNSEEN = { level: 'info', format: 'json', destination: { write() {} } } as const;
const UNLIMITED = 1_000_000_000_000;

interface Started {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Has Node load and compile what the first requests need, by queries to two more services in this process. They have
 * this one's schema and prepared documents, but a gateway, stores, limits, metrics and a log of their own, so nothing
 * of it is seen outside. It never stops a start. It leaves its garbage to V8: a requested collection throws away
 * nearly all compiled code, one that V8 begins by itself keeps it.
 */
export async function warmUp(
  config: Config,
  { log, schema }: Pick<StartOptions, 'log' | 'schema'>,
  { documents, trusted }: Pick<Resources, 'documents' | 'trusted'>,
  start: (isolated: Config, options: AppOptions) => Promise<Started>,
): Promise<void> {
  documents.countsReads = false;
  try {
    const bodies = [...USUAL_DOCUMENTS, ...(trusted?.texts(MOST_TRUSTED) ?? [])].flatMap((text) =>
      bodiesOf(text, schema, documents),
    );
    const warming = runQueries(config, bodies, (isolated) =>
      start(isolated, { log: createLog(UNSEEN), schema, documents }),
    );
    await within(systemClock, MOST_MS, warming);
  } catch (error) {
    log.warn({ err: error }, 'the warm-up failed: the first requests are slower');
  } finally {
    documents.countsReads = true;
  }
}

async function runQueries(
  config: Config,
  bodies: readonly string[],
  start: (isolated: Config) => Promise<Started>,
): Promise<void> {
  const endMs = performance.now() + ENOUGH_MS;
  await using opened = new AsyncDisposableStack();
  const sandbox = opened.use(
    await startEmbeddedSandbox({ ...config, sandboxInstruments: INSTRUMENTS }),
  );
  const gateway = opened.use(await RecordedGateway.start(sandbox));
  const connections: Connection[] = [];
  for (let service = 0; service < SERVICES; service += 1) {
    const app = await start(isolated(config, gateway.url, sandbox.secret));
    opened.defer(() => app.close());
    for (let at = 0; at < CONNECTIONS_EACH; at += 1) {
      connections.push(opened.use(await Connection.open(app.url)));
    }
  }
  // Other methods take the way by yoga, which is loaded by that.
  await connections[0]?.ask(requestOf('PUT', '', '{}', 0));
  for (let round = 0; round < ENOUGH_ROUNDS; round += 1) {
    // Another token each time, whose session has to be read.
    const token = sandbox.token({ email: EMAIL, expiresInSeconds: 3_600 + round });
    for (const body of bodies) {
      if (performance.now() > endMs) return;
      const request = requestOf('POST', token, body, round);
      await Promise.all(connections.map((connection) => connection.ask(request)));
    }
  }
}

/** The bodies of requests for each query of a document. */
function bodiesOf(query: string, schema: GraphQLSchema, documents: Documents): string[] {
  const prepared = documents.prepare(query);
  if ('errors' in prepared) return [];
  return [...prepared.operations.values()]
    .filter(({ node }) => node.operation === 'query')
    .map(({ node }) =>
      JSON.stringify({
        query,
        operationName: node.name?.value,
        variables: sampleVariables(schema, node, INSTRUMENT),
      }),
    );
}

/** The configuration of a service that reaches nothing but `gatewayUrl`, and refuses nothing. */
function isolated(config: Config, gatewayUrl: string, secret: string): Config {
  const verifies = config.jwtSecret !== null || config.jwtJwksUrl !== null;
  return {
    ...config,
    warmUp: false,
    sandbox: false,
    gatewayUrl,
    gatewayHeaders: {},
    demoPage: false,
    host: '127.0.0.1',
    port: 0,
    adminHost: '127.0.0.1',
    adminPort: 0,
    redisUrl: null,
    orderStore: 'memory',
    persistedDocuments: null,
    persistedDocumentsOnly: 'off',
    jwtSecret: verifies ? secret : null,
    jwtJwksUrl: null,
    jwtIssuer: null,
    jwtAudience: null,
    rateLimitPerMinute: UNLIMITED,
    costLimitPerMinute: UNLIMITED,
    tracing: null,
    shutdownDelayMs: 0,
  };
}
