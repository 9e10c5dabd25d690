import type { SettingName, Values } from './settings.ts';
import { shown } from './shown.ts';

/** The problems of settings that contradict each other. */
export function* contradictions(values: Values): Generator<string> {
  const { adminPort, gatewayHeaders, jwtJwksUrl, port } = values;
  if (values.gatewayUrl === null) {
    if (values.nodeEnv === 'production' && values.sandbox !== true) {
      yield 'GATEWAY_URL is unset: with NODE_ENV=production it must be the address of a gateway, or SANDBOX must be on';
    } else if (values.sandbox === false) {
      yield 'SANDBOX=off: must be on or unset where GATEWAY_URL is unset';
    }
  }
  if (adminPort === port && port !== 0 && overlap(values.adminHost, values.host)) {
    yield `ADMIN_PORT=${adminPort}: must differ from PORT (${port}), since HOST and ADMIN_HOST overlap`;
  }
  const { shutdownGraceMs: grace, orderTimeoutMs: order } = values;
  if (grace <= order) {
    yield `SHUTDOWN_GRACE_MS=${grace}: must be more than ORDER_TIMEOUT_MS (${order})`;
  }
  if (jwtJwksUrl !== null && values.jwtSecret !== null) {
    yield `JWT_JWKS_URL=${shown(jwtJwksUrl)}: must be unset where JWT_SECRET is set`;
  }
  if (jwtJwksUrl === null && values.jwtSecret === null) {
    yield* unchecked('JWT_ISSUER', values.jwtIssuer);
    yield* unchecked('JWT_AUDIENCE', values.jwtAudience);
  }
  const twice = values.gatewayForwardHeaders.find((name) => Object.hasOwn(gatewayHeaders, name));
  if (twice !== undefined) {
    yield `GATEWAY_FORWARD_HEADERS: must not name ${twice}, which GATEWAY_HEADERS fixes`;
  }
  const { persistedDocuments, persistedDocumentsOnly: only } = values;
  if (only !== 'off' && persistedDocuments === null) {
    yield `PERSISTED_DOCUMENTS_ONLY=${only}: must be off without PERSISTED_DOCUMENTS`;
  }
}

/** An operator would wrongly believe that tokens are verified, although there is no key. */
function* unchecked(name: SettingName, expected: string | null): Generator<string> {
  if (expected !== null) {
    yield `${name}=${shown(expected)}: must be unset without JWT_JWKS_URL or JWT_SECRET`;
  }
}

function overlap(one: string, other: string): boolean {
  const everywhere = ['0.0.0.0', '::'];
  return one === other || everywhere.includes(one) || everywhere.includes(other);
}
