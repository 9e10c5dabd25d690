import type { SettingName, Values } from './settings.ts';
import { shown } from './shown.ts';

/** Null where the values agree. */
type Rule = readonly [about: readonly SettingName[], problem: (values: Values) => string | null];

const RULES: readonly Rule[] = [
  [
    ['GATEWAY_URL', 'NODE_ENV', 'SANDBOX'],
    ({ gatewayUrl, nodeEnv, sandbox }) => {
      if (gatewayUrl !== null || sandbox === true) return null;
      if (nodeEnv === 'production') {
        return 'GATEWAY_URL is unset: with NODE_ENV=production it must be the address of a gateway, or SANDBOX must be on';
      }
      return sandbox === null
        ? null
        : 'SANDBOX=off: must be on or unset where GATEWAY_URL is unset';
    },
  ],
  [
    ['ADMIN_PORT', 'PORT', 'HOST', 'ADMIN_HOST'],
    ({ port, host, adminPort, adminHost }) =>
      adminPort === port && port !== 0 && overlap(adminHost, host)
        ? `ADMIN_PORT=${adminPort}: must differ from PORT (${port}), since HOST and ADMIN_HOST overlap`
        : null,
  ],
  [
    ['SHUTDOWN_GRACE_MS', 'ORDER_TIMEOUT_MS'],
    ({ shutdownGraceMs: grace, orderTimeoutMs: order }) =>
      grace > order
        ? null
        : `SHUTDOWN_GRACE_MS=${grace}: must be more than ORDER_TIMEOUT_MS (${order})`,
  ],
  [
    ['JWT_JWKS_URL', 'JWT_SECRET'],
    ({ jwtJwksUrl: url, jwtSecret }) =>
      url === null || jwtSecret === null
        ? null
        : `JWT_JWKS_URL=${shown(url)}: must be unset where JWT_SECRET is set`,
  ],
  [
    ['JWT_ISSUER', 'JWT_JWKS_URL', 'JWT_SECRET'],
    (values) => withoutKey('JWT_ISSUER', values.jwtIssuer, values),
  ],
  [
    ['JWT_AUDIENCE', 'JWT_JWKS_URL', 'JWT_SECRET'],
    (values) => withoutKey('JWT_AUDIENCE', values.jwtAudience, values),
  ],
  [
    ['GATEWAY_FORWARD_HEADERS', 'GATEWAY_HEADERS'],
    ({ gatewayForwardHeaders: forwarded, gatewayHeaders: fixed }) => {
      const twice = forwarded.find((name) => Object.hasOwn(fixed, name));
      return twice === undefined
        ? null
        : `GATEWAY_FORWARD_HEADERS: must not name ${twice}, which GATEWAY_HEADERS fixes`;
    },
  ],
  [
    ['PERSISTED_DOCUMENTS_ONLY', 'PERSISTED_DOCUMENTS'],
    ({ persistedDocumentsOnly: only, persistedDocuments: path }) =>
      only === 'off' || path !== null
        ? null
        : `PERSISTED_DOCUMENTS_ONLY=${only}: must be off without PERSISTED_DOCUMENTS`,
  ],
];

/** The problems of settings that contradict each other. A setting that is wrong by itself already has a line. */
export function contradictions(values: Values, faulty: ReadonlySet<SettingName>): string[] {
  return RULES.filter(([about]) => !about.some((name) => faulty.has(name)))
    .map(([, problem]) => problem(values))
    .filter((problem) => problem !== null);
}

/** An operator would believe that tokens are verified, while no key is set. */
function withoutKey(
  name: SettingName,
  expected: string | null,
  { jwtJwksUrl, jwtSecret }: Values,
): string | null {
  if (expected === null || jwtJwksUrl !== null || jwtSecret !== null) return null;
  return `${name}=${shown(expected)}: must be unset without JWT_JWKS_URL or JWT_SECRET`;
}

function overlap(one: string, other: string): boolean {
  const everywhere = ['0.0.0.0', '::'];
  return one === other || everywhere.includes(one) || everywhere.includes(other);
}
