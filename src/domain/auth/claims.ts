import type { Login } from '../../lib/account.ts';
import { isObject } from '../../lib/json.ts';
import { UnauthenticatedError } from './token-errors.ts';

export interface ClaimNames {
  readonly login: string;
  readonly group: string;
}

export interface Claims {
  readonly login: Login;
  readonly group: string | null;
  readonly expiresAtMs: number | null;
}

/** Decodes a JWT's claims without verifying them. Throws if they are unusable. */
export function readClaims(token: string, names: ClaimNames): Claims {
  const payload = decodeClaims(token);
  const login = toLogin(own(payload, names.login));
  if (login === null) throw new UnauthenticatedError('the token names no usable login', 'login');
  const group = own(payload, names.group);
  return {
    login,
    group: typeof group === 'string' && group !== '' ? group : null,
    expiresAtMs: toExpiry(own(payload, 'exp')),
  };
}

/** The expiry time that a token states; null if it states none, or is unreadable. */
export function expiryOf(token: string): number | null {
  try {
    return toExpiry(own(decodeClaims(token), 'exp'));
  } catch {
    return null;
  }
}

// A forwarded token must not contain characters that could end its header. Unsigned tokens pass: the gateway refuses them.
const JWT = /^[\w-]+\.([\w-]+)\.[\w-]*$/;
const MAX_TOKEN_LENGTH = 8_192;

export function decodeClaims(token: string): Record<string, unknown> {
  const body = token.length <= MAX_TOKEN_LENGTH ? JWT.exec(token)?.[1] : undefined;
  if (body === undefined) throw new UnauthenticatedError('the token is not a JWT');
  let payload: unknown;
  try {
    payload = JSON.parse(Buffer.from(body, 'base64url').toString('utf8'));
  } catch {
    // The parser's message quotes its input, so it is not kept as the cause.
    throw new UnauthenticatedError('the token cannot be read');
  }
  if (!isObject(payload)) throw new UnauthenticatedError('the token cannot be read');
  return payload;
}

/** A claim named `constructor` must not resolve to the object's prototype. */
function own(payload: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(payload, name) ? payload[name] : undefined;
}

/** The login becomes a path segment and the key of an account, so only digits are accepted. */
export function toLogin(claim: unknown): Login | null {
  if (typeof claim !== 'string' && typeof claim !== 'number') return null;
  const digits = String(claim);
  // No other code creates a `Login`.
  return /^[0-9]{1,15}$/.test(digits) ? (digits as unknown as Login) : null;
}

function toExpiry(claim: unknown): number | null {
  if (claim === undefined) return null;
  if (typeof claim !== 'number' || !Number.isFinite(claim)) {
    throw new UnauthenticatedError('the token has no readable expiry');
  }
  return claim * 1000;
}
