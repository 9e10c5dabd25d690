import { randomUUID } from 'node:crypto';

/**
 * The key of an order is a UUID of version 8 (RFC 9562), whose first 48 bits are the time when it was made, in milliseconds
 * since 1970. Not version 7: libraries make that by the device's clock, which may be wrong by days.
 */
const ORDER_KEY = /^([\da-f]{8})-([\da-f]{4})-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

/** A new key that is made at this time. */
export function newKeyAt(madeMs: number): string {
  const time = Math.floor(madeMs).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-8${randomUUID().slice(15)}`;
}

/** When the key was made; null if the text is not a key. */
export function keyTimeOf(key: string): number | null {
  const [, high, low] = ORDER_KEY.exec(key) ?? [];
  return high === undefined ? null : Number.parseInt(`${high}${low}`, 16);
}
