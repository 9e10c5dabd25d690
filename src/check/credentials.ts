import { givenValue, type Variables } from '../config/given-value.ts';
import { plainText, secret } from '../config/kinds.ts';

export type Credentials =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'password'; readonly email: string; readonly password: string };

const PLAIN = plainText('any text');
const SECRET = secret(PLAIN);

const NEITHER =
  'Set CHECK_EMAIL and CHECK_PASSWORD, or CHECK_TOKEN: the operations are called as a user. CHECK_TOKEN_FILE and ' +
  'CHECK_PASSWORD_FILE may name files';

/**
 * The token, or the e-mail and password, from the environment or from files. Every user of the machine can list arguments,
 * so they are not accepted. If there is a fault, returns a string that explains it.
 */
export function readCredentials(environment: Variables): Credentials | string {
  const token = givenValue('CHECK_TOKEN', SECRET, environment);
  const email = givenValue('CHECK_EMAIL', PLAIN, environment);
  const password = givenValue('CHECK_PASSWORD', SECRET, environment);
  for (const each of [token, email, password]) if (typeof each === 'string') return each;
  if (isGiven(token)) {
    return isGiven(email) ? 'Set CHECK_EMAIL or CHECK_TOKEN, not both' : tokenOf(token.text);
  }
  if (!isGiven(email)) return NEITHER;
  if (!isGiven(password)) return 'Set CHECK_PASSWORD or CHECK_PASSWORD_FILE with CHECK_EMAIL';
  return { kind: 'password', email: email.text.trim(), password: password.text };
}

function isGiven(
  value: ReturnType<typeof givenValue>,
): value is Exclude<typeof value, string | null> {
  return value !== null && typeof value !== 'string';
}

/** A token that was copied from a request may still have its scheme. */
function tokenOf(given: string): Credentials {
  return { kind: 'token', token: given.trim().replace(/^Bearer\s+/i, '') };
}
