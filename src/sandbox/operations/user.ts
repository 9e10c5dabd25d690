import { TOKEN_HEADER } from '../../gateway/operations/conventions.ts';
import { NOTIFICATIONS } from '../../gateway/operations/mark-notifications-read.ts';
import { DEVICE } from '../../gateway/operations/register-device.ts';
import { TRADING_ACCOUNT } from '../../gateway/operations/reset-trading-account-password.ts';
import { VALUE } from '../../gateway/operations/set-value.ts';
import { acknowledged, valuesIn } from '../body.ts';
import type { Call } from '../call.ts';
import type { Reply } from '../http.ts';
import { authenticated, malformed, refuse, unauthorized } from '../refusals.ts';

/** Operation 6. */
export const resetTradingAccountPassword = authenticated((call) => {
  const { account } = valuesIn(TRADING_ACCOUNT, call.body);
  if (typeof account !== 'string' || account === '') {
    return malformed(call.operation, TRADING_ACCOUNT.names.account, 'must be a string');
  }
  if (account !== String(call.user.login)) {
    return refuse(call.operation, 404, 'ACCOUNT_NOT_FOUND', 'The user has no such account.');
  }
  return acknowledged();
});

/** Operation 9. */
export const setValue = authenticated((call) => {
  if (!('value' in valuesIn(VALUE, call.body))) {
    return malformed(call.operation, VALUE.names.value, 'is required');
  }
  // No operation reads a value, so none is kept.
  return acknowledged();
});

const PLATFORMS = new Set(['ios', 'android', 'web', 'windows', 'macos']);

/** Operation 14. */
export function markNotificationsRead(call: Call): Reply {
  const { ids } = valuesIn(NOTIFICATIONS, call.body);
  if (!Array.isArray(ids) || !ids.every(Number.isFinite)) {
    return malformed(call.operation, NOTIFICATIONS.names.ids, 'must be an array of numbers');
  }
  return refusal(call) ?? acknowledged();
}

/** Operation 15. */
export function registerDevice(call: Call): Reply {
  const { deviceId, token, platform, enabled } = valuesIn(DEVICE, call.body);
  const { names } = DEVICE;
  if (typeof deviceId !== 'string' || deviceId === '') {
    return malformed(call.operation, names.deviceId, 'must be a string of at least 1 character');
  }
  if (token !== undefined && typeof token !== 'string') {
    return malformed(call.operation, names.token, 'must be a string');
  }
  if (platform !== undefined && !PLATFORMS.has(platform as string)) {
    return malformed(call.operation, names.platform, `must be one of ${[...PLATFORMS].join(', ')}`);
  }
  if (enabled !== undefined && typeof enabled !== 'boolean') {
    return malformed(call.operation, names.enabled, 'must be a boolean');
  }
  return refusal(call) ?? acknowledged();
}

/** Operations 14 and 15 need no token, but a token that is sent must be valid. */
function refusal({ operation, headers, claims }: Call): Reply | null {
  return headers[TOKEN_HEADER] !== undefined && claims === null ? unauthorized(operation) : null;
}
