import type { SETTINGS } from '../src/config/settings.ts';

/** The occasion to set a variable, for docs/configuration.md: "when …". Of the others their meaning says it. */
export const OCCASIONS: Readonly<Partial<Record<keyof typeof SETTINGS, string>>> = {
  NODE_ENV: 'in production',
  HOST: 'others than this machine call it, outside of a container',
  ADMIN_HOST: 'Prometheus runs elsewhere, behind a firewall',
  GATEWAY_HEADERS: 'the gateway asks each caller for a key or a tenant',
  GATEWAY_FORWARD_CLIENT: 'the gateway limits or audits by client',
  GATEWAY_FORWARD_HEADERS: 'your clients say in a header which tenant or brand they are for',
  GATEWAY_CONNECTIONS: 'the gateway takes fewer, or calls wait for turns',
  GATEWAY_MAX_BYTES: 'accounts have tens of thousands of rows',
  GATEWAY_POLLS_PER_SECOND: 'the gateway takes fewer polls, or more accounts watch',
  SESSION_MAX_AGE_SECONDS: 'figures of a minute ago are too old; `0` reads them each time',
  JWT_JWKS_URL: 'tokens are signed by a key pair: forged ones end here then',
  PERSISTED_DOCUMENTS_ONLY: 'no others may be sent; `log` first',
  CORS_ORIGINS: 'web pages of other origins call it',
  RATE_LIMIT_PER_MINUTE: 'honest accounts are refused by it: `trading_graph_refusals_total`',
  LOGIN_LIMIT_PER_MINUTE: 'a branch behind one address is refused by it',
  LOG_LEVEL: 'you look for a fault (`debug`), or lines cost too much (`warn`)',
  SHUTDOWN_DELAY_MS: 'a balancer needs a while to see that it leaves',
  SHUTDOWN_GRACE_MS: 'the platform kills sooner, or orders take longer',
};
