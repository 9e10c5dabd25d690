import type { Config } from '../config.ts';
import type { AllowedOrigins, Site } from '../engine/index.ts';
import type { GatewayClient } from '../gateway/client.ts';
import { OPERATIONS } from '../gateway/operations.ts';
import type { GraphiQLOptions } from '../graphiql/server/graphiql.ts';

/** The sandbox gateway and its pages. The entry of the process hands them in: nothing that serves a real gateway knows them. */
export interface SandboxParts {
  start(options: SandboxSettings & SandboxAddress): Promise<RunningSandbox>;
  /** Whether this installation has the demonstration page. */
  hasPage(): boolean;
  sites(options: SandboxSitesOptions): readonly Site[];
}

export interface RunningSandbox extends AsyncDisposable {
  readonly url: string;
}

interface SandboxSitesOptions {
  readonly gatewayUrl: string;
  readonly origins: AllowedOrigins;
  readonly withPage: boolean;
  /** Called when the catalog has changed; `isOther` after a reset, which may have replaced it by another one. */
  readonly onCatalogChange: (change: { readonly isOther: boolean }) => void;
}

interface SandboxAddress {
  readonly host?: string;
  readonly port?: number;
}

type SandboxSettings = ReturnType<typeof sandboxSettings>;

/** The settings of a sandbox gateway that fits the configuration. */
export function sandboxSettings(config: Config) {
  return {
    seed: config.sandboxSeed,
    instruments: config.sandboxInstruments,
    tickMs: config.sandboxTickMs,
    secret: config.jwtSecret ?? undefined,
    loginClaim: config.gatewayLoginClaim,
    groupClaim: config.gatewayGroupClaim,
    directionField: config.gatewayDirectionField,
    mobileWallet: config.gatewayMobileWallet,
  };
}

const DEMO_USER = { email: 'demo@example.com', password: 'demo' };

/** The users that GraphiQL offers, and the token that it starts with. */
export function graphiqlUsers(client: GatewayClient): NonNullable<GraphiQLOptions['sandbox']> {
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
