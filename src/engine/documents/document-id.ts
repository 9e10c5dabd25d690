import { hash } from 'node:crypto';

const PREFIX = 'sha256:';
const SHA256 = /^[0-9a-f]{64}$/i;

/** Normalizes an id: hashes are sent with and without the name of their method, in either case. */
export function documentId(given: string): string {
  const bare = given.startsWith(PREFIX) ? given.slice(PREFIX.length) : given;
  return SHA256.test(bare) ? bare.toLowerCase() : given;
}

/** Computes the SHA-256 id of a document's text. */
export function hashOf(text: string): string {
  return hash('sha256', text, 'hex');
}
