import type { Config } from '../config.ts';
import type { Site } from '../engine/index.ts';
import { FrontPage } from '../graphiql/server/front-page.ts';
import { GraphiQL } from '../graphiql/server/graphiql.ts';
import type { sandboxSites } from '../sandbox/page/sites.ts';
import type { Sandbox } from '../sandbox/start.ts';

/** The sandbox's controls and its page. */
type Demo = ReturnType<typeof sandboxSites>;

/** The pages that the HTTP server serves in addition to GraphQL. `demo` is null if the sandbox's pages are not served. */
export function sitesOf(
  config: Config,
  sandbox: Sandbox | null,
  demo: Demo | null,
): readonly Site[] {
  const { authCookie, graphiql: hasGraphiql, publicPath } = config;
  const frontPage = new FrontPage({ publicPath, hasGraphiql });
  const sites = demo?.sites ?? [];
  if (!hasGraphiql) return [...sites, frontPage];
  const graphiql = new GraphiQL({
    publicPath,
    sandbox,
    hasAuthCookie: authCookie !== null,
    hasPage: demo?.hasPage ?? false,
  });
  return [...sites, graphiql, frontPage];
}
