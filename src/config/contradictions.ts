import { shown } from './setting.ts';
import type { SettingName, Values } from './settings.ts';

interface Contradiction {
  readonly about: readonly SettingName[];
  readonly problem: string;
}

/** Finds settings that contradict each other. */
export function contradictions(values: Values): readonly Contradiction[] {
  const { gatewayUrl, nodeEnv, sandbox, port, host, adminPort, adminHost } = values;
  const { shutdownGraceMs, orderTimeoutMs } = values;
  const { jwtJwksUrl, jwtSecret, jwtIssuer, jwtAudience } = values;
  const { gatewayForwardHeaders, gatewayHeaders } = values;
  const { persistedDocuments, persistedDocumentsOnly } = values;
  const needsGateway = gatewayUrl === null && nodeEnv === 'production' && sandbox !== true;
  const hasNoGateway = gatewayUrl === null && sandbox === false;
  const isSamePort = adminPort === port && port !== 0 && overlap(adminHost, host);
  const twice = gatewayForwardHeaders.find((name) => Object.hasOwn(gatewayHeaders, name));
  const found: Contradiction[] = [];
  const add = (isSo: boolean, about: Contradiction['about'], problem: string) => {
    if (isSo) found.push({ about, problem });
  };
  add(
    needsGateway,
    ['GATEWAY_URL', 'NODE_ENV', 'SANDBOX'],
    'GATEWAY_URL is unset: with NODE_ENV=production it must be the address of a gateway, or SANDBOX must be on',
  );
  add(
    hasNoGateway && !needsGateway,
    ['GATEWAY_URL', 'SANDBOX'],
    'SANDBOX=off: must be on or unset where GATEWAY_URL is unset, or there is no gateway at all',
  );
  add(
    shutdownGraceMs <= orderTimeoutMs,
    ['SHUTDOWN_GRACE_MS', 'ORDER_TIMEOUT_MS'],
    `SHUTDOWN_GRACE_MS=${shutdownGraceMs}: must be more than ORDER_TIMEOUT_MS (${orderTimeoutMs})`,
  );
  add(
    isSamePort,
    ['ADMIN_PORT', 'PORT', 'HOST', 'ADMIN_HOST'],
    `ADMIN_PORT=${adminPort}: must differ from PORT (${port}), since HOST and ADMIN_HOST overlap`,
  );
  add(
    jwtJwksUrl !== null && jwtSecret !== null,
    ['JWT_JWKS_URL', 'JWT_SECRET'],
    `JWT_JWKS_URL=${shown(jwtJwksUrl ?? '')}: must be unset where JWT_SECRET is set`,
  );
  for (const [name, expected] of [
    ['JWT_ISSUER', jwtIssuer],
    ['JWT_AUDIENCE', jwtAudience],
  ] as const) {
    add(
      // Nothing would be verified without a key, while the operator believes that it is.
      expected !== null && jwtJwksUrl === null && jwtSecret === null,
      [name, 'JWT_JWKS_URL', 'JWT_SECRET'],
      `${name}=${shown(expected ?? '')}: must be unset without JWT_JWKS_URL or JWT_SECRET`,
    );
  }
  add(
    twice !== undefined,
    ['GATEWAY_FORWARD_HEADERS', 'GATEWAY_HEADERS'],
    `GATEWAY_FORWARD_HEADERS: must not name ${twice}, which GATEWAY_HEADERS fixes`,
  );
  add(
    persistedDocumentsOnly !== 'off' && persistedDocuments === null,
    ['PERSISTED_DOCUMENTS_ONLY', 'PERSISTED_DOCUMENTS'],
    `PERSISTED_DOCUMENTS_ONLY=${persistedDocumentsOnly}: must be off without PERSISTED_DOCUMENTS`,
  );
  return found;
}

function overlap(one: string, other: string): boolean {
  const everywhere = ['0.0.0.0', '::'];
  return one === other || everywhere.includes(one) || everywhere.includes(other);
}

/** Warns of values that are possible, and hardly what is meant. */
export function warnOfDoubts({ trustedProxies }: Values): readonly string[] {
  return trustedProxies
    .filter((network) => network.endsWith('/0'))
    .map(
      (network) =>
        `TRUSTED_PROXIES=${network} trusts everybody: a client that reaches this port chooses the address that its limits are counted for`,
    );
}
