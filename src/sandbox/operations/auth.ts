import { errorBody } from '../../gateway/operations/conventions.ts';
import { FORGOTTEN_PASSWORD } from '../../gateway/operations/forgot-password.ts';
import { CREDENTIALS, GRANT } from '../../gateway/operations/login.ts';
import { acknowledged, valuesIn } from '../body.ts';
import type { Call, Context } from '../call.ts';
import { json, type Reply } from '../http.ts';
import { malformed } from '../refusals.ts';
import { findUserByEmail, PASSWORD } from '../users.ts';

const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,255}$/;

/** Operation 2. */
export function login(call: Call, { tokens }: Context): Reply {
  const { operation } = call;
  const { email, password } = valuesIn(CREDENTIALS, call.body);
  const { names } = CREDENTIALS;
  if (typeof email !== 'string' || !EMAIL.test(email)) {
    return malformed(operation, names.email, 'must be an e-mail address');
  }
  if (typeof password !== 'string' || password === '') {
    return malformed(operation, names.password, 'must be a string');
  }
  const user = findUserByEmail(email);
  if (user === null) return json(404, errorBody('sign-in', { error: 'USER_NOT_FOUND', email }));
  if (password !== PASSWORD)
    return json(401, errorBody('sign-in', { error: 'INVALID_CREDENTIALS' }));
  const grant = GRANT.toWire({
    accessToken: tokens.mint({ subject: user.id, login: user.login, group: user.group }),
    passkey: false,
    refreshToken: `refresh-${user.login}`,
  });
  return json(200, grant);
}

/** Operation 3. */
export function forgotPassword(call: Call): Reply {
  const { email } = valuesIn(FORGOTTEN_PASSWORD, call.body);
  if (typeof email !== 'string' || !EMAIL.test(email)) {
    return malformed(call.operation, FORGOTTEN_PASSWORD.names.email, 'must be an e-mail address');
  }
  if (findUserByEmail(email) === null) {
    return json(404, errorBody('sign-in', { error: 'USER_NOT_FOUND' }));
  }
  return acknowledged();
}
