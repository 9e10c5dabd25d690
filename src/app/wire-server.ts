import { Readiness } from '../../engine/admin/readiness.ts';
import { SendBuffers } from '../../engine/back-pressure/send-buffers.ts';
import { LastingConnections } from '../../engine/http/closing-in-slices.ts';
import { HttpServer } from '../../engine/http/http-server.ts';
import type { Site } from '../../engine/http/site.ts';
import { messageBudget } from '../../engine/receive/message-budget.ts';
import { ReceiveBuffers } from '../../engine/receive/receive-buffers.ts';
import { AccessLog } from '../../engine/request/access-log.ts';
import { BearerTokens } from '../../engine/request/bearer.ts';
import { ClientAddresses } from '../../engine/request/client-address.ts';
import { ClientNames } from '../../engine/request/client-names.ts';
import type { ServerSettings } from '../../engine/server-settings.ts';
import { WebSocketEndpoint } from '../../engine/websocket/websocket-endpoint.ts';
import { GraphiQL } from '../../graphiql/server/graphiql.ts';
import { onFirstUse } from '../../lib/on-first-use.ts';
import { DemoPage } from '../../sandbox/page/demo-page.ts';
import { SandboxProxy } from '../../sandbox/page/sandbox-proxy.ts';
import type { Config } from '../config.ts';
import { LONGEST_HEARTBEAT_MS } from '../domain/positions/subscription.ts';
import { TokenEndedError } from '../domain/positions/token-ended-error.ts';
import { printedSchema } from '../schema/schema.ts';
import type { StartOptions } from './app-options.ts';
import { graphiqlUsers } from './embedded-sandbox.ts';
import type { Resources } from './open-resources.ts';

export type WiredServer = ReturnType<typeof wireServer>;

/** The transports: none listens yet. */
export function wireServer(config: Config, options: StartOptions, resources: Resources) {
  const { gateway, memory, stores } = resources;
  const { schema, directPath } = options;
  const { most, lingerMs } = options.connections;
  const settings = settingsOf(config, options, resources);
  // Loaded with its first request, which few clients send: it is a quarter of a start. That holds the event loop once, from
  // the image's bundle for some 50 ms, from the sources for 200.
  const yoga = onFirstUse(async () =>
    (await import('../../engine/http/yoga.ts')).createYogaHandler(resources.graph),
  );
  const readiness = new Readiness({
    gateway: () => gateway.degradedReason(),
    'order-store': () => stores.records.degradedReason(),
    redis: () => stores.limits?.degradedReason() ?? null,
    memory: () => memory.degradedReason(),
  });
  const webSockets = new WebSocketEndpoint(settings, () => memory.isShort);
  const server = new HttpServer({
    ...settings,
    sites: sitesOf(config, resources),
    readiness,
    webSockets,
    maxConnections: most,
    corsHeaders: config.corsHeaders,
    directPath,
    yoga,
    lingerMs,
    sdl: config.introspection ? printedSchema(schema) : null,
  });
  return { ...settings, readiness, webSockets, server, yoga };
}

/** Makes the settings that all transports share. */
function settingsOf(config: Config, options: StartOptions, resources: Resources): ServerSettings {
  const { domain, graph, limiter, metrics, tracing } = resources;
  const { log } = options;
  const { unreadBytes, unfinishedBytes, unreadMs, patienceMs, unfinishedMs, pingMs, clock } =
    options.connections;
  const { clientOf } = domain;
  const refused = (limit: string) => metrics.graph.refusal(limit);
  return {
    graph,
    lasting: new LastingConnections(),
    log,
    metrics: metrics.server,
    refused,
    limiter,
    clientOf,
    clock,
    pingMs,
    longestHeartbeatMs: LONGEST_HEARTBEAT_MS,
    tokenEndOf: (error) => (error instanceof TokenEndedError ? error.code : null),
    addresses: new ClientAddresses(config.trustedProxies, log),
    origins: config.corsOrigins,
    maxBodyBytes: config.maxBodyBytes,
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
    countMessage: messageBudget(limiter, clientOf),
    tokens: new BearerTokens(),
    tracing,
    clientNames: new ClientNames(config.clientNames),
    accessLog: new AccessLog({
      log,
      clock,
      sample: config.logSample,
      accountKey: config.logAccountKey,
      isAccepted: ({ token }) =>
        token !== null && domain.ledger.isAccepted({ tokenHash: token.hash }),
      random: Math.random,
      metrics: metrics.server,
    }),
  };
}

/** Makes the pages that the HTTP server serves beside GraphQL. */
function sitesOf(config: Config, { sandbox, gateway, domain }: Resources): readonly Site[] {
  const { introspection, corsOrigins: origins, demoPage: offersGateway } = config;
  const page = offersGateway ? DemoPage.find() : null;
  const users = sandbox && graphiqlUsers(gateway.client);
  const onCatalogChange = () => domain.catalogs.expire();
  return [
    ...(page ? [page] : []),
    ...(config.graphiql ? [new GraphiQL({ sandbox: users, introspection })] : []),
    ...(sandbox
      ? [new SandboxProxy({ gatewayUrl: sandbox.url, origins, offersGateway, onCatalogChange })]
      : []),
  ];
}
