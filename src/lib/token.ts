import { hash } from 'node:crypto';

/** A token with its hash, which is computed once for all requests of a connection. */
export interface Token {
  readonly text: string;
  /** Its key in caches, so that a memory dump is not a list of usable sessions. */
  readonly hash: string;
}

/** With other forwarded headers, and so another `digest` of them, the same token has another hash. */
export function toToken(text: string, digest = ''): Token {
  // No token has a line break, so different pairs give different texts.
  return { text, hash: hash('sha256', digest === '' ? text : `${text}\n${digest}`, 'hex') };
}
