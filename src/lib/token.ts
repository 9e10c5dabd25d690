import { hash } from 'node:crypto';

/** A token, which a connection makes once for all its requests. */
export interface Token {
  readonly text: string;
  /** Its key in caches: a memory dump should not be a list of sessions to take over. */
  readonly hash: string;
}

/** `apart`: keeps it apart from the same token of callers who differ in more than their token. */
export function toToken(text: string, apart = ''): Token {
  // No token has a line break.
  return { text, hash: hash('sha256', apart === '' ? text : `${text}\n${apart}`, 'hex') };
}
