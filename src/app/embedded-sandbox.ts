import type { GraphiQLOptions } from '../../graphiql/server/graphiql.ts';
import type { Sandbox, SandboxOptions } from '../../sandbox/start.ts';
import type { Config } from '../config.ts';
import type { GatewayClient } from '../gateway/client.ts';

/** Starts a sandbox gateway that fits the configuration. Its files are loaded only here. */
export async function startEmbeddedSandbox(
  config: Config,
  address: Pick<SandboxOptions, 'host' | 'port'> = {},
): Promise<Sandbox> {
  const { startSandbox } = await import('../../sandbox/start.ts');
  return startSandbox({
    ...address,
    seed: config.sandboxSeed,
    instruments: config.sandboxInstruments,
    tickMs: config.sandboxTickMs,
    secret: config.jwtSecret ?? undefined,
    loginClaim: config.gatewayLoginClaim,
    groupClaim: config.gatewayGroupClaim,
    directionField: config.gatewayDirectionField,
    mobileWallet: config.gatewayMobileWallet,
  });
}

/** The users that GraphiQL offers, and the token that it starts with. */
export function graphiqlUsers(client: GatewayClient): NonNullable<GraphiQLOptions['sandbox']> {
  return {
    users: [
      { email: 'demo@example.com', about: '6 positions' },
      { email: 'pro@example.com', about: '25 positions' },
      { email: 'fresh@example.com', about: 'nothing yet' },
    ],
    async firstToken() {
      const answer = await client.login({ token: null }, 'demo@example.com', 'demo');
      return 'accessToken' in answer ? answer.accessToken : null;
    },
  };
}
