import { createHmac, randomBytes } from 'node:crypto';

const LENGTH = 16;

/** If no key is configured, hashes are comparable only within one process. */
const KEY_OF_PROCESS = randomBytes(32);

/** Replaces a login, an address or a key in the log. Equal texts have equal hashes, which reveal nothing without the key. */
export function logHash(key: string | null, text: string): string {
  return createHmac('sha256', key ?? KEY_OF_PROCESS)
    .update(text)
    .digest('hex')
    .slice(0, LENGTH);
}
