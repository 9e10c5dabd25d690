import { hash } from 'node:crypto';

/** A token with its hash, which a connection computes once for all its requests. */
export interface HashedToken {
  readonly token: string;
  readonly hash: string;
}

export function hashToken(token: string): HashedToken {
  return { token, hash: hash('sha256', token, 'hex') };
}

/**
 * The key of a token in caches: a memory dump should not be a list of sessions to take over. A hash
 * that was computed before counts only where it is of this very token.
 */
export function tokenHash(token: string, hashed: HashedToken | null = null): string {
  return hashed?.token === token ? hashed.hash : hashToken(token).hash;
}
