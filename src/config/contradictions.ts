import { shown } from './setting.ts';
import type { SettingName, Values } from './settings.ts';

interface Contradiction {
  readonly about: readonly SettingName[];
  readonly problem: string;
}

/**
 * Finds settings that contradict each other, each with the variables involved, so that none is
 * reported twice.
 */
export function* contradictions(values: Values): Generator<Contradiction> {
  if (values.gatewayUrl === null && values.nodeEnv === 'production' && values.sandbox !== true) {
    yield {
      about: ['GATEWAY_URL', 'SANDBOX'],
      problem:
        'GATEWAY_URL is unset: with NODE_ENV=production it must be the address of a gateway, or SANDBOX must be on',
    };
  } else if (values.gatewayUrl === null && values.sandbox === false) {
    yield {
      about: ['GATEWAY_URL', 'SANDBOX'],
      problem:
        'SANDBOX=off: must be on or unset where GATEWAY_URL is unset, or there is no gateway at all',
    };
  }
  if (values.shutdownGraceMs <= values.orderTimeoutMs) {
    yield {
      about: ['SHUTDOWN_GRACE_MS', 'ORDER_TIMEOUT_MS'],
      problem: `SHUTDOWN_GRACE_MS=${values.shutdownGraceMs}: must be more than ORDER_TIMEOUT_MS (${values.orderTimeoutMs})`,
    };
  }
  if (values.positionsPollMaxMs < values.positionsPollMs) {
    yield {
      about: ['POSITIONS_POLL_MAX_MS', 'POSITIONS_POLL_MS'],
      problem: `POSITIONS_POLL_MAX_MS=${values.positionsPollMaxMs}: must be at least POSITIONS_POLL_MS (${values.positionsPollMs})`,
    };
  }
  if (
    values.adminPort === values.port &&
    values.port !== 0 &&
    overlap(values.adminHost, values.host)
  ) {
    yield {
      about: ['ADMIN_PORT', 'PORT', 'ADMIN_HOST', 'HOST'],
      problem: `ADMIN_PORT=${values.adminPort}: must differ from PORT (${values.port})`,
    };
  }
  if (values.jwtJwksUrl !== null && values.jwtSecret !== null) {
    yield {
      about: ['JWT_JWKS_URL', 'JWT_SECRET'],
      problem: `JWT_JWKS_URL=${shown(values.jwtJwksUrl)}: must be unset where JWT_SECRET is set`,
    };
  }
  const hasKey = values.jwtJwksUrl !== null || values.jwtSecret !== null;
  for (const [name, expected] of [
    ['JWT_ISSUER', values.jwtIssuer],
    ['JWT_AUDIENCE', values.jwtAudience],
  ] as const) {
    // Without a key nothing would be verified, while the operator believes that it is.
    if (expected === null || hasKey) continue;
    yield {
      about: [name, 'JWT_JWKS_URL', 'JWT_SECRET'],
      problem: `${name}=${shown(expected)}: must be unset without JWT_JWKS_URL or JWT_SECRET`,
    };
  }
  const twice = values.gatewayForwardHeaders.find((name) =>
    Object.hasOwn(values.gatewayHeaders, name),
  );
  if (twice !== undefined) {
    yield {
      about: ['GATEWAY_FORWARD_HEADERS', 'GATEWAY_HEADERS'],
      problem: `GATEWAY_FORWARD_HEADERS: must not name ${twice}, which GATEWAY_HEADERS fixes`,
    };
  }
  if (values.persistedDocumentsOnly !== 'off' && values.persistedDocuments === null) {
    yield {
      about: ['PERSISTED_DOCUMENTS_ONLY', 'PERSISTED_DOCUMENTS'],
      problem: `PERSISTED_DOCUMENTS_ONLY=${values.persistedDocumentsOnly}: must be off without PERSISTED_DOCUMENTS`,
    };
  }
}

function overlap(one: string, other: string): boolean {
  const everywhere = ['0.0.0.0', '::'];
  return one === other || everywhere.includes(one) || everywhere.includes(other);
}
