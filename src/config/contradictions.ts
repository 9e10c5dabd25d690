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
export function contradictions(values: Values): readonly Contradiction[] {
  const found: Contradiction[] = [];
  const add = (about: readonly SettingName[], problem: string) => found.push({ about, problem });
  if (values.gatewayUrl === null && values.nodeEnv === 'production' && values.sandbox !== true) {
    add(
      ['GATEWAY_URL', 'SANDBOX'],
      'GATEWAY_URL is unset: with NODE_ENV=production it must be the address of a gateway, or SANDBOX must be on',
    );
  } else if (values.gatewayUrl === null && values.sandbox === false) {
    add(
      ['GATEWAY_URL', 'SANDBOX'],
      'SANDBOX=off: must be on or unset where GATEWAY_URL is unset, or there is no gateway at all',
    );
  }
  if (values.shutdownGraceMs <= values.orderTimeoutMs) {
    add(
      ['SHUTDOWN_GRACE_MS', 'ORDER_TIMEOUT_MS'],
      `SHUTDOWN_GRACE_MS=${values.shutdownGraceMs}: must be more than ORDER_TIMEOUT_MS (${values.orderTimeoutMs})`,
    );
  }
  if (values.positionsPollMaxMs < values.positionsPollMs) {
    add(
      ['POSITIONS_POLL_MAX_MS', 'POSITIONS_POLL_MS'],
      `POSITIONS_POLL_MAX_MS=${values.positionsPollMaxMs}: must be at least POSITIONS_POLL_MS (${values.positionsPollMs})`,
    );
  }
  const isSamePort = values.adminPort === values.port && values.port !== 0;
  if (isSamePort && overlap(values.adminHost, values.host)) {
    add(
      ['ADMIN_PORT', 'PORT', 'ADMIN_HOST', 'HOST'],
      `ADMIN_PORT=${values.adminPort}: must differ from PORT (${values.port})`,
    );
  }
  if (values.jwtJwksUrl !== null && values.jwtSecret !== null) {
    const given = shown(values.jwtJwksUrl);
    add(
      ['JWT_JWKS_URL', 'JWT_SECRET'],
      `JWT_JWKS_URL=${given}: must be unset where JWT_SECRET is set`,
    );
  }
  const hasKey = values.jwtJwksUrl !== null || values.jwtSecret !== null;
  for (const [name, expected] of [
    ['JWT_ISSUER', values.jwtIssuer],
    ['JWT_AUDIENCE', values.jwtAudience],
  ] as const) {
    // Without a key nothing would be verified, while the operator believes that it is.
    if (expected === null || hasKey) continue;
    add(
      [name, 'JWT_JWKS_URL', 'JWT_SECRET'],
      `${name}=${shown(expected)}: must be unset without JWT_JWKS_URL or JWT_SECRET`,
    );
  }
  const twice = values.gatewayForwardHeaders.find((name) =>
    Object.hasOwn(values.gatewayHeaders, name),
  );
  if (twice !== undefined) {
    add(
      ['GATEWAY_FORWARD_HEADERS', 'GATEWAY_HEADERS'],
      `GATEWAY_FORWARD_HEADERS: must not name ${twice}, which GATEWAY_HEADERS fixes`,
    );
  }
  if (values.persistedDocumentsOnly !== 'off' && values.persistedDocuments === null) {
    add(
      ['PERSISTED_DOCUMENTS_ONLY', 'PERSISTED_DOCUMENTS'],
      `PERSISTED_DOCUMENTS_ONLY=${values.persistedDocumentsOnly}: must be off without PERSISTED_DOCUMENTS`,
    );
  }
  return found;
}

function overlap(one: string, other: string): boolean {
  const everywhere = ['0.0.0.0', '::'];
  return one === other || everywhere.includes(one) || everywhere.includes(other);
}
