import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../lib/clock.ts';

/** The claims of a valid token. */
export interface TokenClaims {
  readonly login: number;
  readonly group: string;
  readonly serial: number;
  readonly expiresAtSeconds: number;
}

export interface TokenRequest {
  readonly subject: string;
  readonly login: number;
  readonly group: string;
  readonly expiresInSeconds?: number | undefined;
  /** `forged` signs with another key. */
  readonly signature?: 'valid' | 'forged' | undefined;
}

export interface Tokens {
  mint(request: TokenRequest): string;
  /** Returns null where the token is malformed, forged, expired or revoked. */
  verify(token: string): TokenClaims | null;
  revoke(token: string): void;
  /** Revokes every token issued to this login so far. */
  revokeLogin(login: number): void;
  reset(): void;
}

export interface TokenOptions {
  readonly secret: string;
  readonly ttlSeconds: number;
  readonly loginClaim: string;
  readonly groupClaim: string;
  readonly clock: Clock;
}

const HEADER = encode({ alg: 'HS256', typ: 'JWT' });
// Signature checks are memoized per token; beyond this many tokens the cache is cleared.
const REMEMBERED = 20_000;

export function createTokens(options: TokenOptions): Tokens {
  const { secret, ttlSeconds, loginClaim, groupClaim, clock } = options;
  const checked = new Map<string, TokenClaims>();
  const revoked = new Set<string>();
  const revokedUpTo = new Map<number, number>();
  let serial = 0;

  /** By the clock, so that a token of a former run is older than what this one revokes. */
  function nextSerial(): number {
    serial = Math.max(serial + 1, clock.date());
    return serial;
  }

  function read(token: string): TokenClaims | null {
    const known = checked.get(token);
    if (known !== undefined) return known;
    const claims = check(token);
    if (claims === null) return null;
    if (checked.size >= REMEMBERED) checked.clear();
    checked.set(token, claims);
    return claims;
  }

  function check(token: string): TokenClaims | null {
    const [header, payload, signature, ...rest] = token.split('.');
    if (!header || !payload || !signature || rest.length > 0) return null;
    if (decode(header)?.alg !== 'HS256') return null;
    const expected = sign(`${header}.${payload}`, secret);
    const given = Buffer.from(signature);
    if (given.length !== expected.length || !timingSafeEqual(given, Buffer.from(expected))) {
      return null;
    }
    const claims = decode(payload);
    const login = Number(claims?.[loginClaim]);
    const group = claims?.[groupClaim];
    const expiresAtSeconds = claims?.exp;
    if (!Number.isInteger(login) || typeof group !== 'string') return null;
    if (typeof expiresAtSeconds !== 'number') return null;
    // A token minted elsewhere with the right key has no serial: it counts as older than any revocation.
    return { login, group, expiresAtSeconds, serial: Number(claims?.jti) || 0 };
  }

  return {
    mint({ subject, login, group, expiresInSeconds, signature }) {
      const iat = Math.floor(clock.date() / 1000);
      const claims = {
        sub: subject,
        [loginClaim]: login,
        [groupClaim]: group,
        iat,
        exp: iat + (expiresInSeconds ?? ttlSeconds),
        jti: String(nextSerial()),
      };
      const body = `${HEADER}.${encode(claims)}`;
      return `${body}.${sign(body, signature === 'forged' ? `not ${secret}` : secret)}`;
    },
    verify(token) {
      const claims = read(token);
      if (claims === null || claims.expiresAtSeconds * 1000 <= clock.date()) return null;
      if (revoked.has(token)) return null;
      const upTo = revokedUpTo.get(claims.login);
      return upTo !== undefined && claims.serial <= upTo ? null : claims;
    },
    revoke(token) {
      revoked.add(token);
    },
    revokeLogin(login) {
      revokedUpTo.set(login, nextSerial());
    },
    // The serial is not reset, so that a token minted after a reset never equals one minted before.
    reset() {
      revoked.clear();
      revokedUpTo.clear();
    },
  };
}

function sign(body: string, secret: string): string {
  return createHmac('sha256', secret).update(body).digest('base64url');
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function decode(part: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
