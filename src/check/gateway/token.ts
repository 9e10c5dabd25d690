import { decodeClaims, EXPIRY_LEEWAY_MS, toLogin } from '../../domain/auth/claims.ts';
import type { Login } from '../../lib/account.ts';

/** The claims of a token. Their values stay in here, except those that calls are made with. */
export interface ReadToken {
  /** The names of its claims with their types. */
  readonly claims: readonly { readonly name: string; readonly type: string }[];
  readonly isExpired: boolean;
  /** The login that a claim holds, where it can be one. */
  loginIn(claim: string): Login | null;
  textIn(claim: string): string | null;
  /** Other claims whose value could be a login. */
  loginClaims(except: string): readonly string[];
  /** Claims of exactly this text. */
  claimsOf(text: string): readonly string[];
}

// Registered claims (RFC 7519, OpenID Connect) that hold numbers, and no login.
const NO_LOGINS = new Set(['exp', 'iat', 'nbf', 'auth_time', 'updated_at']);

/** Null where the text is no JWT. */
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

/** The same claims under a signature that is not theirs; null where the token has none. */
export function withBrokenSignature(token: string): string | null {
  const [header, claims, signature = ''] = token.split('.');
  // The first character, because the last one may hold unused bits.
  const first = signature.startsWith('A') ? 'B' : 'A';
  return signature === '' ? null : `${header}.${claims}.${first}${signature.slice(1)}`;
}
