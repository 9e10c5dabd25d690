import { createHmac } from 'node:crypto';

const LENGTH = 16;

/** Stands in the log for an account's login or a client's address: the same for the same, and of use to nobody without the key. */
export function logHash(key: string | Buffer, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex').slice(0, LENGTH);
}
