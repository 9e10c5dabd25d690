import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../lib/clock.ts';

/** The claims of a valid token. */
export interface TokenClaims {
  readonly login: number;
  readonly group: string;
  readonly serial: number;
  readonly expiresAtSeconds: number;
}

interface TokenRequest {
  readonly subject: string;
  readonly login: number;
  readonly group: string;
  readonly expiresInSeconds?: number | undefined;
  /** `forged` signs with another key. */
  readonly signature?: 'valid' | 'forged' | undefined;
}

interface TokenOptions {
  readonly secret: string;
  readonly loginClaim: string;
  readonly groupClaim: string;
  readonly clock: Clock;
}

const HEADER = encode({ alg: 'HS256', typ: 'JWT' });
const TTL_SECONDS = 8 * 3_600;

export class Tokens {
  readonly #options: TokenOptions;
  readonly #revoked = new Set<string>();
  /** The last revoked serial of each login. */
  readonly #revokedSerials = new Map<number, number>();
  #serial = 0;

  constructor(options: TokenOptions) {
    this.#options = options;
  }

  mint({ subject, login, group, expiresInSeconds, signature }: TokenRequest): string {
    const { secret, loginClaim, groupClaim, clock } = this.#options;
    const iat = Math.floor(clock.date() / 1000);
    const claims = {
      sub: subject,
      [loginClaim]: login,
      [groupClaim]: group,
      iat,
      exp: iat + (expiresInSeconds ?? TTL_SECONDS),
      jti: String(this.#nextSerial()),
    };
    const body = `${HEADER}.${encode(claims)}`;
    return `${body}.${sign(body, signature === 'forged' ? `not ${secret}` : secret)}`;
  }

  /** Returns null if the token is malformed, forged, expired or revoked. */
  verify(token: string): TokenClaims | null {
    const claims = this.#check(token);
    if (claims === null) return null;
    const hasExpired = claims.expiresAtSeconds * 1000 <= this.#options.clock.date();
    if (hasExpired || this.#revoked.has(token)) return null;
    const lastRevoked = this.#revokedSerials.get(claims.login);
    const isRevoked = lastRevoked !== undefined && claims.serial <= lastRevoked;
    return isRevoked ? null : claims;
  }

  revoke(token: string): void {
    this.#revoked.add(token);
  }

  /** Revokes every token issued to this login so far. */
  revokeLogin(login: number): void {
    this.#revokedSerials.set(login, this.#nextSerial());
  }

  /** Forgets all revocations, but not the last serial, so that no token is minted twice. */
  reset(): void {
    this.#revoked.clear();
    this.#revokedSerials.clear();
  }

  /** Serials follow the clock, so that tokens of earlier runs have lower serials and can be revoked. */
  #nextSerial(): number {
    this.#serial = Math.max(this.#serial + 1, this.#options.clock.date());
    return this.#serial;
  }

  #check(token: string): TokenClaims | null {
    const { secret, loginClaim, groupClaim } = this.#options;
    const [header, payload, signature, ...rest] = token.split('.');
    if (!header || !payload || !signature || rest.length > 0) return null;
    if (decode(header)?.alg !== 'HS256') return null;
    const expected = Buffer.from(sign(`${header}.${payload}`, secret));
    const given = Buffer.from(signature);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
    const claims = decode(payload);
    const login = Number(claims?.[loginClaim]);
    const group = claims?.[groupClaim];
    const expiresAtSeconds = claims?.exp;
    if (!Number.isInteger(login) || typeof group !== 'string') return null;
    if (typeof expiresAtSeconds !== 'number') return null;
    // A token that was minted elsewhere with the right key has no serial, so `revokeLogin` revokes it too.
    return { login, group, expiresAtSeconds, serial: Number(claims?.jti) || 0 };
  }
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
