import { createHmac, randomBytes } from 'node:crypto';

const LENGTH = 16;

/** A process without a configured key hashes alike in all of its lines, and unlike any other process. */
const OF_PROCESS = randomBytes(32);

/** Stands in the log for an account's login or a client's address: the same for the same, and of use to nobody without the key. */
export function logHash(key: string | null, text: string): string {
  return createHmac('sha256', key ?? OF_PROCESS)
    .update(text)
    .digest('hex')
    .slice(0, LENGTH);
}
