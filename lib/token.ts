import { hash } from 'node:crypto';

/** A token, which a connection makes once for all its requests. */
export interface Token {
  readonly text: string;
  /** Its key in caches: a memory dump should not be a list of sessions to take over. */
  readonly hash: string;
}

export function toToken(text: string): Token {
  return { text, hash: hash('sha256', text, 'hex') };
}
