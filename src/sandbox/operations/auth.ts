import type { Call, Context } from '../call.ts';
import { json, type Reply } from '../http.ts';
import { bodyRow, malformed } from '../refusals.ts';
import { findUserByEmail, PASSWORD } from '../users.ts';

const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,255}$/;

/** Operation 2. */
export function login(call: Call, { tokens }: Context): Reply {
  const { operation } = call;
  const { email, password } = bodyRow(call) ?? {};
  if (typeof email !== 'string' || !EMAIL.test(email)) {
    return malformed(operation, 'email', 'must be an e-mail address');
  }
  if (typeof password !== 'string' || password === '') {
    return malformed(operation, 'password', 'must be a string');
  }
  const user = findUserByEmail(email);
  if (user === null) return json(404, { error: 'USER_NOT_FOUND', email, ok: false });
  if (password !== PASSWORD) return json(401, { error: 'INVALID_CREDENTIALS', ok: false });
  return json(200, {
    access_token: tokens.mint({ subject: user.id, login: user.login, group: user.group }),
    passkey: false,
    refresh_token: `refresh-${user.login}`,
  });
}

/** Operation 3. */
export function forgotPassword(call: Call): Reply {
  const { email } = bodyRow(call) ?? {};
  if (typeof email !== 'string' || !EMAIL.test(email)) {
    return malformed(call.operation, 'email', 'must be an e-mail address');
  }
  if (findUserByEmail(email) === null) return json(404, { error: 'USER_NOT_FOUND', ok: false });
  return json(200, { success: true });
}
