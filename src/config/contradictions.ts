import type { Values } from './settings.ts';
import { shown } from './shown.ts';

export function* contradictions(values: Values): Generator<string> {
  const { adminPort, gatewayHeaders, jwtJwksUrl, jwtSecret, port } = values;
  const maySandbox = values.sandbox ?? values.nodeEnv !== 'production';
  if (values.gatewayUrl === null && !maySandbox) {
    yield 'GATEWAY_URL is unset: it must be the address of a gateway with SANDBOX=off, and with NODE_ENV=production unless SANDBOX=on';
  }
  if (adminPort === port && port !== 0) {
    yield `ADMIN_PORT=${adminPort}: must differ from PORT (${port})`;
  }
  const { shutdownGraceMs: grace, orderTimeoutMs: order } = values;
  if (grace <= order) {
    yield `SHUTDOWN_GRACE_MS=${grace}: must be more than ORDER_TIMEOUT_MS (${order})`;
  }
  if (jwtJwksUrl !== null && jwtSecret !== null) {
    yield `JWT_JWKS_URL=${shown(jwtJwksUrl)}: must be unset if JWT_SECRET is set`;
  }
  if (jwtJwksUrl === null && jwtSecret === null) {
    // An operator would wrongly believe that tokens are verified.
    const unused = { JWT_ISSUER: values.jwtIssuer, JWT_AUDIENCE: values.jwtAudience };
    for (const [name, value] of Object.entries(unused)) {
      if (value === null) continue;
      yield `${name}=${shown(value)}: must be unset without JWT_JWKS_URL or JWT_SECRET`;
    }
  }
  if (values.persistedDocumentsOnly === 'on' && values.persistedDocuments === null) {
    yield 'PERSISTED_DOCUMENTS_ONLY=on: must be `off` or `log` without PERSISTED_DOCUMENTS, as every document would be refused';
  }
  const twice = values.gatewayForwardHeaders.find((name) => Object.hasOwn(gatewayHeaders, name));
  if (twice !== undefined) {
    yield `GATEWAY_FORWARD_HEADERS=${shown(values.gatewayForwardHeaders.join(','))}: must not name ${twice}, which GATEWAY_HEADERS fixes`;
  }
}
