import type { Config } from '../config.ts';
import { LONGEST_HEARTBEAT_MS } from '../domain/positions/subscription.ts';
import { onFirstUse } from '../lib/on-first-use.ts';
import { printedSchema } from '../schema/schema.ts';
import { Readiness } from '../server/admin/readiness.ts';
import { SendBuffers } from '../server/back-pressure/send-buffers.ts';
import { DemoPage } from '../server/demo-page/demo-page.ts';
import { GraphiQL } from '../server/graphiql/graphiql.ts';
import { HttpServer } from '../server/http/http-server.ts';
import { SandboxProxy } from '../server/http/sandbox-proxy.ts';
import type { YogaHandler } from '../server/http/yoga.ts';
import { messageBudget } from '../server/receive/message-budget.ts';
import { ReceiveBuffers } from '../server/receive/receive-buffers.ts';
import { AccessLog } from '../server/request/access-log.ts';
import { BearerTokens } from '../server/request/bearer.ts';
import { ClientAddresses } from '../server/request/client-address.ts';
import { ClientNames } from '../server/request/client-names.ts';
import { RequestIds } from '../server/request/request-id.ts';
import type { ServerSettings } from '../server/settings.ts';
import { WebSocketEndpoint } from '../server/websocket/websocket-endpoint.ts';
import type { StartOptions } from './app-options.ts';
import { graphiqlUsers } from './embedded-sandbox.ts';
import type { Resources } from './open-resources.ts';
import type { WiredGraph } from './wire-graph.ts';

// Longer than the minute for which a client may be too busy, or its connection too poor, to read.
const SILENCE_MS = 75_000;
const MAX_OPERATIONS_PER_SOCKET = 100;

export type WiredServer = ReturnType<typeof wireServer>;

/** The transports: none listens yet. */
export function wireServer(
  config: Config,
  options: StartOptions,
  resources: Resources,
  wired: WiredGraph,
) {
  const { metrics, memory } = resources;
  const { schema, directPath } = options;
  const { most, pingMs, lingerMs, clock } = options.connections;
  const settings = settingsOf(config, options, resources, wired);
  const yoga = onFirstUse(() => loadYoga(wired));
  const readiness = new Readiness();
  const webSockets = new WebSocketEndpoint({
    ...settings,
    clock,
    pingMs,
    silenceMs: SILENCE_MS,
    longestHeartbeatMs: LONGEST_HEARTBEAT_MS,
    maxOperations: MAX_OPERATIONS_PER_SOCKET,
    clientOf: resources.domain.clientOf,
    onSocketClosed: (code) => metrics.server.socketClosed(code),
    isMemoryShort: () => memory.isShort,
    onMemoryShort: () => metrics.graph.refusal('memory'),
    onSocketRefused: () => metrics.graph.refusal('sockets'),
    limiter: resources.limiter,
  });
  const server = new HttpServer({
    ...settings,
    ...pagesOf(config, resources),
    readiness,
    webSockets,
    maxConnections: most,
    limiter: resources.limiter,
    onConnectionRefused: () => metrics.graph.refusal('connections'),
    onCrossSiteRefused: () => metrics.server.crossSiteRefused.add(),
    corsHeaders: config.corsHeaders,
    directPath,
    yoga,
    pingMs,
    lingerMs,
    onGeneralPath: () => metrics.server.generalPath.add(),
    onAnswered: (status) => metrics.server.http.add(`${Math.floor(status / 100)}xx`),
    sdl: config.introspection ? printedSchema(schema) : null,
  });
  return { ...settings, readiness, webSockets, server, yoga };
}

/**
 * Loads yoga with its first request, which few clients send: it is a quarter of a start. That holds the event loop once, from
 * the image's bundle for some 50 ms, from the sources for 200.
 */
async function loadYoga({ graph }: WiredGraph): Promise<YogaHandler> {
  const { createYogaHandler } = await import('../server/http/yoga.ts');
  return createYogaHandler(graph);
}

/** Makes the settings that all transports share. */
function settingsOf(
  config: Config,
  options: StartOptions,
  resources: Resources,
  wired: WiredGraph,
): ServerSettings {
  const { domain, metrics, tracing } = resources;
  const { log } = options;
  return {
    graph: wired.graph,
    log,
    addresses: new ClientAddresses({ trustedProxies: config.trustedProxies, log }),
    origins: config.corsOrigins,
    maxBodyBytes: config.maxBodyBytes,
    ...boundsOf(options, resources),
    tokens: new BearerTokens(),
    requestIds: new RequestIds(),
    tracing,
    clientNames: new ClientNames(config.clientNames),
    accessLog: new AccessLog({
      log,
      sample: config.logSample,
      accountKey: config.logAccountKey,
      ledger: domain.ledger,
      random: Math.random,
      onEnded: (summary, end) => metrics.server.requestEnded(summary, end),
    }),
  };
}

/** Makes the bounds of the bytes that wait on either side, and of the messages that arrive. */
function boundsOf(
  {
    connections: { unreadBytes, unfinishedBytes, unreadMs, patienceMs, unfinishedMs, clock },
  }: StartOptions,
  { domain: { clientOf }, limiter, metrics }: Resources,
) {
  return {
    buffers: new SendBuffers({
      maxBytes: unreadBytes,
      clientOf,
      clock,
      unreadMs,
      patienceMs,
      onCut: (reason) => metrics.server.readersCut.add(reason),
    }),
    received: new ReceiveBuffers({
      maxBytes: unfinishedBytes,
      clock,
      unfinishedMs,
      onCut: (reason) => metrics.server.sendersCut.add(reason),
    }),
    countMessage: messageBudget(limiter, clientOf, () => metrics.graph.refusal('messages')),
  };
}

/** Makes the pages that the HTTP server serves beside GraphQL. */
function pagesOf(config: Config, { sandbox, gateway, domain }: Resources) {
  return {
    graphiql: config.graphiql
      ? new GraphiQL({
          sandbox: sandbox && graphiqlUsers(gateway.client),
          introspection: config.introspection,
        })
      : null,
    demoPage: config.demoPage ? DemoPage.find() : null,
    sandbox: sandbox
      ? new SandboxProxy({
          gatewayUrl: sandbox.url,
          origins: config.corsOrigins,
          offersGateway: config.demoPage,
          onCatalogChange: () => domain.catalogs.expire(),
        })
      : null,
  };
}
