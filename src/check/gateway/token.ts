import { decodeClaims, EXPIRY_LEEWAY_MS, toLogin } from '../../domain/auth/claims.ts';
import type { Login } from '../../lib/account.ts';

/** The claims of a token. Only the values that calls need can be read. */
export interface ReadToken {
  /** The names and types of its claims. */
  readonly claims: readonly { readonly name: string; readonly type: string }[];
  readonly isExpired: boolean;
  /** The login in a claim; null if its value cannot be a login. */
  loginIn(claim: string): Login | null;
  textIn(claim: string): string | null;
  /** The claims, except one, whose value could be a login. */
  loginClaims(except: string): readonly string[];
  /** The claims whose value is this text. */
  claimsOf(text: string): readonly string[];
}

// Registered claims (RFC 7519, OpenID Connect) whose numbers are not logins.
const NO_LOGINS = new Set(['exp', 'iat', 'nbf', 'auth_time', 'updated_at']);

/** Null if the text is not a JWT. */
export function readToken(token: string, nowMs: number): ReadToken | null {
  let payload: Record<string, unknown>;
  try {
    payload = decodeClaims(token);
  } catch {
    return null;
  }
  const own = (name: string) => (Object.hasOwn(payload, name) ? payload[name] : undefined);
  const textIn = (name: string) => {
    const value = own(name);
    return typeof value === 'string' && value !== '' ? value : null;
  };
  const names = Object.keys(payload);
  const { exp } = payload;
  return {
    claims: names.map((name) => ({ name, type: typeName(payload[name]) })),
    isExpired: typeof exp === 'number' && exp * 1_000 + EXPIRY_LEEWAY_MS <= nowMs,
    loginIn: (name) => toLogin(own(name)),
    textIn,
    loginClaims: (except) =>
      names.filter(
        (name) => name !== except && !NO_LOGINS.has(name) && toLogin(own(name)) !== null,
      ),
    claimsOf: (text) => names.filter((name) => textIn(name) === text),
  };
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'list' : typeof value;
}

/** The same claims with a wrong signature; null if the token has none. */
export function withBrokenSignature(token: string): string | null {
  const [header, claims, signature = ''] = token.split('.');
  // Changes the first character, because the last one may hold unused bits.
  const first = signature.startsWith('A') ? 'B' : 'A';
  return signature === '' ? null : `${header}.${claims}.${first}${signature.slice(1)}`;
}
