import { hash } from 'node:crypto';

let lastToken: string | null = null;
let lastHash = '';

/**
 * What is kept for a token is kept under its hash: a dump of this process's memory should not be a
 * list of sessions to take over. Several parts of one request ask in turn, so the last is remembered.
 */
export function tokenHash(token: string): string {
  if (token !== lastToken) {
    lastHash = hash('sha256', token, 'hex');
    lastToken = token;
  }
  return lastHash;
}
