import { TOKEN_HEADER } from '../../gateway/operations/conventions.ts';
import type { Call } from '../call.ts';
import { json, type Reply } from '../http.ts';
import { authenticated, bodyRow, malformed, refuse, unauthorized } from '../refusals.ts';

const MAX_KEYS = 1_000;

/** Operation 6. */
export const resetTradingAccountPassword = authenticated((call) => {
  const account = bodyRow(call)?.account_external_id;
  if (typeof account !== 'string' || account === '') {
    return malformed(call.operation, 'account_external_id', 'must be a string');
  }
  if (account !== String(call.user.login)) {
    return refuse(call.operation, 404, 'ACCOUNT_NOT_FOUND', 'The user has no such account.');
  }
  return json(200, { success: true });
});

/** Operation 9. */
export const setValue = authenticated((call, { world }) => {
  const body = bodyRow(call);
  if (body === null || !('value' in body)) {
    return malformed(call.operation, 'value', 'is required');
  }
  // No operation reads a value, so only keys are kept.
  const { keys } = world.account(call.user);
  const { key = '' } = call.params;
  if (keys.size >= MAX_KEYS && !keys.has(key)) {
    return refuse(call.operation, 409, 'TOO_MANY_KEYS', 'No more keys can be stored.');
  }
  keys.add(key);
  return json(200, { success: true });
});

const PLATFORMS = new Set(['ios', 'android', 'web', 'windows', 'macos']);

/** Operation 14. */
export function markNotificationsRead(call: Call): Reply {
  const ids = bodyRow(call)?.ids;
  if (!Array.isArray(ids) || !ids.every(Number.isFinite)) {
    return malformed(call.operation, 'ids', 'must be an array of numbers');
  }
  return refusal(call) ?? json(200, { success: true });
}

/** Operation 15. */
export function registerDevice(call: Call): Reply {
  const { deviceId, token, platform, enabled } = bodyRow(call) ?? {};
  if (typeof deviceId !== 'string' || deviceId === '') {
    return malformed(call.operation, 'deviceId', 'must be a string of at least 1 character');
  }
  if (token !== undefined && typeof token !== 'string') {
    return malformed(call.operation, 'token', 'must be a string');
  }
  if (platform !== undefined && !PLATFORMS.has(platform as string)) {
    return malformed(call.operation, 'platform', `must be one of ${[...PLATFORMS].join(', ')}`);
  }
  if (enabled !== undefined && typeof enabled !== 'boolean') {
    return malformed(call.operation, 'enabled', 'must be a boolean');
  }
  return refusal(call) ?? json(200, { success: true });
}

/** Operations 14 and 15 need no token, but a token that is sent must be valid. */
function refusal({ operation, headers, claims }: Call): Reply | null {
  return headers[TOKEN_HEADER] !== undefined && claims === null ? unauthorized(operation) : null;
}
