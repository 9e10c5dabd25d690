import { hash } from 'node:crypto';

const PREFIX = 'sha256:';
const SHA256 = /^[0-9a-f]{64}$/i;

/** One spelling of each id: hashes come with and without their method's name, in either case. */
export function documentId(given: string): string {
  const bare = given.startsWith(PREFIX) ? given.slice(PREFIX.length) : given;
  return SHA256.test(bare) ? bare.toLowerCase() : given;
}

/** The id that a text has by itself. */
export function hashOf(text: string): string {
  return hash('sha256', text, 'hex');
}
