import { createHmac, randomBytes } from 'node:crypto';

const LENGTH = 16;

/** Without a configured key the hashes of a process agree with each other, and not with those of other processes. */
const OF_PROCESS = randomBytes(32);

/** Replaces an account's login or a client's address in the log. The same text has the same hash, which says nothing without the key. */
export function logHash(key: string | null, text: string): string {
  return createHmac('sha256', key ?? OF_PROCESS)
    .update(text)
    .digest('hex')
    .slice(0, LENGTH);
}
