import { hash } from 'node:crypto';

/** A token. A connection makes it once for all its requests. */
export interface Token {
  readonly text: string;
  /** Its key in caches, so that a memory dump is not a list of usable sessions. */
  readonly hash: string;
}

/** `apart` gives the same token different hashes for callers that differ in something else, such as their forwarded headers. */
export function toToken(text: string, apart = ''): Token {
  // No token has a line break.
  return { text, hash: hash('sha256', apart === '' ? text : `${text}\n${apart}`, 'hex') };
}
