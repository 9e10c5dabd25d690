import type { Config } from '../config.ts';
import type { Site } from '../engine/index.ts';
import type { GatewayClient } from '../gateway/client.ts';
import { FrontPage } from '../graphiql/server/front-page.ts';
import { GraphiQL } from '../graphiql/server/graphiql.ts';
import type { StartOptions } from './app-options.ts';
import { graphiqlUsers, type RunningSandbox } from './embedded-sandbox.ts';

interface Parts {
  readonly sandbox: RunningSandbox | null;
  readonly gateway: { readonly client: GatewayClient };
  readonly domain: { readonly catalogs: { expire(change: { readonly isOther: boolean }): void } };
}

/** The pages that the HTTP server serves besides GraphQL. */
export function sitesOf(
  config: Config,
  { sandbox: sandboxParts }: StartOptions,
  { sandbox, gateway, domain }: Parts,
): readonly Site[] {
  const { publicPath, authCookie } = config;
  // A proxy on this machine that does not name itself would open the sandbox's controls to everybody.
  const isTrial = sandbox !== null && config.demoPage;
  // The demonstration page links to GraphiQL.
  const hasPage = isTrial && config.graphiql && sandboxParts.hasPage();
  const sites: Site[] = isTrial
    ? [
        ...sandboxParts.sites({
          gatewayUrl: sandbox.url,
          origins: config.corsOrigins,
          withPage: hasPage,
          onCatalogChange: (change) => domain.catalogs.expire(change),
        }),
      ]
    : [];
  if (config.graphiql) {
    const users = sandbox && graphiqlUsers(gateway.client);
    sites.push(
      new GraphiQL({ publicPath, sandbox: users, hasAuthCookie: authCookie !== null, hasPage }),
    );
  }
  sites.push(new FrontPage({ publicPath, hasGraphiql: config.graphiql }));
  return sites;
}
