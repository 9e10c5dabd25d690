import type { JWTVerifyOptions } from 'jose';
import { type Clock, steadyClock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { KeySet, NoKeySetError } from './key-set.ts';
import { EXPIRY_LEEWAY_MS, UnauthenticatedError, UnknownKeyError } from './token-errors.ts';

export interface VerifierOptions {
  readonly jwtJwksUrl: string | null;
  readonly jwtSecret: string | null;
  readonly jwtIssuer: string | null;
  readonly jwtAudience: string | null;
  readonly clock?: Clock;
  readonly log?: Pick<Log, 'warn' | 'info'>;
}

/**
 * Resolves to true if the signature is valid, and to false while no key set could be read. Throws an UnauthenticatedError
 * if the token is refused, and an UnknownKeyError if the key set may be older than its key.
 */
export type Verify = (token: string) => Promise<boolean>;

export interface Verifier extends Disposable {
  readonly verify: Verify;
  /** Why keys cannot be read; null if they can. */
  degradedReason(): string | null;
}

// Fixed here: a token must not choose its algorithm. It could choose `none`, or use an RSA public key as an HMAC secret.
const SECRET_ALGORITHMS = ['HS256', 'HS384', 'HS512'];
const KEY_SET_ALGORITHMS =
  'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');

type Jose = typeof import('jose');

/** Null if no key is configured. Then only the gateway's acceptance proves a token, and the library jose is not loaded. */
export async function createVerifier(options: VerifierOptions): Promise<Verifier | null> {
  const { jwtSecret, jwtJwksUrl, jwtIssuer, jwtAudience, clock = steadyClock, log } = options;
  if (jwtSecret === null && jwtJwksUrl === null) return null;
  const jose = await import('jose');
  const expectations = {
    algorithms: jwtSecret === null ? KEY_SET_ALGORITHMS : SECRET_ALGORITHMS,
    clockTolerance: EXPIRY_LEEWAY_MS / 1000,
    ...(jwtIssuer !== null && { issuer: jwtIssuer }),
    ...(jwtAudience !== null && { audience: jwtAudience }),
  };
  if (jwtSecret !== null) {
    const secret = new TextEncoder().encode(jwtSecret);
    return {
      verify: (token) => judged(jose.jwtVerify(token, secret, expectations)),
      degradedReason: () => null,
      [Symbol.dispose]() {},
    };
  }
  const keys = new KeySet({ jose, url: jwtJwksUrl ?? '', clock, log });
  return {
    verify: (token) => judged(verifyWithSet(jose, token, keys, expectations)),
    degradedReason: () => keys.degradedReason(),
    [Symbol.dispose]: () => keys[Symbol.dispose](),
  };
}

/** A token that names no key may be signed by any key of the set. */
async function verifyWithSet(
  jose: Jose,
  token: string,
  keys: KeySet,
  expectations: JWTVerifyOptions,
): Promise<unknown> {
  const { JWKSMultipleMatchingKeys, JWSSignatureVerificationFailed } = jose.errors;
  try {
    return await jose.jwtVerify(token, keys.keyOf, expectations);
  } catch (several) {
    if (!(several instanceof JWKSMultipleMatchingKeys)) throw several;
    for await (const key of several) {
      try {
        return await jose.jwtVerify(token, key, expectations);
      } catch (error) {
        if (!(error instanceof JWSSignatureVerificationFailed)) throw error;
      }
    }
    throw new JWSSignatureVerificationFailed();
  }
}

/** The codes of errors about the token. Other errors are about the keys. */
const ABOUT_TOKEN = /^ERR_(?:JWT|JWS|JOSE_ALG|JOSE_NOT)_/;

async function judged(verified: Promise<unknown>): Promise<boolean> {
  try {
    await verified;
    return true;
  } catch (error) {
    if (error instanceof NoKeySetError) return false;
    if (error instanceof UnauthenticatedError || error instanceof UnknownKeyError) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (ABOUT_TOKEN.test(code)) throw new UnauthenticatedError('the token was refused', 'key');
    // The key of the set is unusable. Without this, a forged token that names it would count as unverified.
    throw new UnknownKeyError(null);
  }
}
