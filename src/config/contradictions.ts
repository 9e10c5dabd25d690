import { shown } from './setting.ts';
import type { Values } from './settings.ts';

/** Finds settings that contradict each other. Each problem names all that it is about, so that none is reported twice. */
export function contradictions(values: Values): readonly string[] {
  const { gatewayUrl, nodeEnv, sandbox, port, host, adminPort, adminHost } = values;
  const { shutdownGraceMs, orderTimeoutMs, positionsPollMs, positionsPollMaxMs } = values;
  const { jwtJwksUrl, jwtSecret, jwtIssuer, jwtAudience } = values;
  const { gatewayForwardHeaders, gatewayHeaders } = values;
  const { persistedDocuments, persistedDocumentsOnly } = values;
  const needsGateway = gatewayUrl === null && nodeEnv === 'production' && sandbox !== true;
  const hasNoGateway = gatewayUrl === null && sandbox === false;
  const isSamePort = adminPort === port && port !== 0 && overlap(adminHost, host);
  // Without a key nothing would be verified, while the operator believes that it is.
  const isUnverified = (expected: string | null) =>
    expected !== null && jwtJwksUrl === null && jwtSecret === null;
  const twice = gatewayForwardHeaders.find((name) => Object.hasOwn(gatewayHeaders, name));
  const found = [
    needsGateway &&
      'GATEWAY_URL is unset: with NODE_ENV=production it must be the address of a gateway, or SANDBOX must be on',
    hasNoGateway &&
      !needsGateway &&
      'SANDBOX=off: must be on or unset where GATEWAY_URL is unset, or there is no gateway at all',
    shutdownGraceMs <= orderTimeoutMs &&
      `SHUTDOWN_GRACE_MS=${shutdownGraceMs}: must be more than ORDER_TIMEOUT_MS (${orderTimeoutMs})`,
    positionsPollMaxMs < positionsPollMs &&
      `POSITIONS_POLL_MAX_MS=${positionsPollMaxMs}: must be at least POSITIONS_POLL_MS (${positionsPollMs})`,
    isSamePort &&
      `ADMIN_PORT=${adminPort}: must differ from PORT (${port}), since HOST and ADMIN_HOST overlap`,
    jwtJwksUrl !== null &&
      jwtSecret !== null &&
      `JWT_JWKS_URL=${shown(jwtJwksUrl)}: must be unset where JWT_SECRET is set`,
    isUnverified(jwtIssuer) &&
      `JWT_ISSUER=${shown(jwtIssuer ?? '')}: must be unset without JWT_JWKS_URL or JWT_SECRET`,
    isUnverified(jwtAudience) &&
      `JWT_AUDIENCE=${shown(jwtAudience ?? '')}: must be unset without JWT_JWKS_URL or JWT_SECRET`,
    twice !== undefined &&
      `GATEWAY_FORWARD_HEADERS: must not name ${twice}, which GATEWAY_HEADERS fixes`,
    persistedDocumentsOnly !== 'off' &&
      persistedDocuments === null &&
      `PERSISTED_DOCUMENTS_ONLY=${persistedDocumentsOnly}: must be off without PERSISTED_DOCUMENTS`,
  ];
  return found.filter((problem) => problem !== false);
}

function overlap(one: string, other: string): boolean {
  const everywhere = ['0.0.0.0', '::'];
  return one === other || everywhere.includes(one) || everywhere.includes(other);
}
