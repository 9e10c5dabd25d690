import type { Config } from '../config.ts';
import type { Site } from '../engine/index.ts';
import type { GatewayClient } from '../gateway/client.ts';
import { OPERATIONS } from '../gateway/operations.ts';
import { FrontPage } from '../graphiql/server/front-page.ts';
import { GraphiQL, type GraphiQLOptions } from '../graphiql/server/graphiql.ts';

/** The sandbox's controls and its page. */
interface Demo {
  readonly sites: readonly Site[];
  readonly hasPage: boolean;
}

/** The pages that the HTTP server serves in addition to GraphQL. `demo` is null if the sandbox's pages are not served. */
export function sitesOf(config: Config, client: GatewayClient, demo: Demo | null): readonly Site[] {
  const { authCookie, graphiql: hasGraphiql, publicPath } = config;
  const frontPage = new FrontPage({ publicPath, hasGraphiql });
  const sites = demo?.sites ?? [];
  if (!hasGraphiql) return [...sites, frontPage];
  const graphiql = new GraphiQL({
    publicPath,
    sandbox: config.sandbox ? sandboxUsers(client) : null,
    hasAuthCookie: authCookie !== null,
    hasPage: demo?.hasPage ?? false,
  });
  return [...sites, graphiql, frontPage];
}

const DEMO_USER = { email: 'demo@example.com', password: 'demo' };

/** The users that GraphiQL offers, and the token that it starts with. */
function sandboxUsers(client: GatewayClient): NonNullable<GraphiQLOptions['sandbox']> {
  return {
    users: [
      { email: DEMO_USER.email, about: '6 positions' },
      { email: 'pro@example.com', about: '25 positions' },
      { email: 'fresh@example.com', about: 'nothing yet' },
    ],
    async firstToken() {
      const answer = await client.write({ token: null }, OPERATIONS.login, DEMO_USER);
      return answer.outcome === 'granted' ? answer.grant.accessToken : null;
    },
  };
}
