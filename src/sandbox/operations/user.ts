import { json } from '../http.ts';
import { authenticated, bodyRow, malformed, refuse } from '../refusals.ts';

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
