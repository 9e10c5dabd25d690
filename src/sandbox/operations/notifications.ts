import type { Call } from '../call.ts';
import { json, type Reply } from '../http.ts';
import { bodyRow, malformed, unauthorized } from '../refusals.ts';

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
  return headers.authorization !== undefined && claims === null ? unauthorized(operation) : null;
}
