import type { Config } from '../config.ts';
import { expiryOf } from '../domain/auth/claims.ts';
import { TokenEndedError } from '../domain/auth/token-ended-error.ts';
import { createEngine, Readiness, type Site } from '../engine/index.ts';
import { FrontPage } from '../graphiql/server/front-page.ts';
import { GraphiQL } from '../graphiql/server/graphiql.ts';
import { ERROR_CODES } from '../schema/error-codes.ts';
import { catalogSize } from '../schema/list-sizes.ts';
import { publicCause } from '../schema/public-error.ts';
import { printedSchema } from '../schema/schema.ts';
import type { StartOptions } from './app-options.ts';
import { graphiqlUsers } from './embedded-sandbox.ts';
import { GraphContext } from './graph-context.ts';
import type { Resources } from './open-resources.ts';

export type WiredServer = Awaited<ReturnType<typeof wireServer>>;

/** Hands the schema, and what the engine has to know of its domain, to the engine. */
export function wireServer(config: Config, options: StartOptions, resources: Resources) {
  const { domain, gateway, memory, metrics, stores, trusted, turns } = resources;
  const { schema, cacheBytes } = options;
  const { authCookie: name, gatewayForwardHeaders: forwardHeaders, publicPath } = config;
  return createEngine({
    ...config,
    ...resources,
    ...options,
    trusted,
    trustedOnly: config.persistedDocumentsOnly,
    traits: ERROR_CODES,
    describe: publicCause,
    scheduler: turns,
    createContext: (caller, operation) => new GraphContext(domain, caller, operation),
    sizeOf: () => catalogSize(domain.catalogs),
    tokenEndOf: (error) => (error instanceof TokenEndedError ? error.code : null),
    cachedResponsesBytes: cacheBytes.answers,
    receipts: config.sandbox,
    standingOf: (token) => (token === null ? undefined : domain.ledger.standing(token)),
    forwardHeaders,
    authCookie: name === null ? null : { name, refusedBy: 'UNAUTHENTICATED', expiryOf, publicPath },
    origins: config.corsOrigins,
    corsHeaders: forwardHeaders,
    sites: sitesOf(config, options, resources),
    sdl: config.graphiql ? printedSchema(schema) : null,
    metrics,
    sample: config.logSample,
    accountKey: config.logAccountKey,
    callsMember: 'gatewayMs',
    readiness: new Readiness({
      gateway: () => gateway.degradedReason(),
      'order-store': () => stores.records.status.degradedReason ?? stores.records.status.holdReason,
      'order-gap': () => stores.records.status.gapReason,
      clock: () => gateway.clockSkew.degradedReason(),
      redis: () => stores.replicas?.degradedReason() ?? null,
      memory: () => memory.degradedReason(),
    }),
  });
}

/** Makes the pages that the HTTP server serves beside GraphQL. */
function sitesOf(
  config: Config,
  { sandbox: parts }: StartOptions,
  { sandbox, gateway, domain, metrics }: Resources,
): readonly Site[] {
  const { corsOrigins: origins, demoPage: isTrial, publicPath } = config;
  // The page leads to GraphiQL.
  const hasPage = sandbox !== null && isTrial && config.graphiql && (parts?.hasPage() ?? false);
  const ofSandbox =
    // A proxy on this machine that does not name itself would open the controls to everybody.
    sandbox && isTrial
      ? parts?.sites({
          gatewayUrl: sandbox.url,
          origins,
          withPage: hasPage,
          onCatalogChange: (change) => domain.catalogs.expire(change),
        })
      : [];
  const hasAuthCookie = config.authCookie !== null;
  const users = sandbox && graphiqlUsers(gateway.client);
  const graphiql = config.graphiql
    ? new GraphiQL({ publicPath, sandbox: users, hasAuthCookie, hasPage })
    : null;
  const front = new FrontPage({ publicPath, hasGraphiql: config.graphiql });
  return [...(ofSandbox ?? []), graphiql, front].filter((site) => site !== null);
}
