import { randomFillSync } from 'node:crypto';

// Short and plain: it goes into logs and headers, where it must not be able to write a line of its own.
const ACCEPTED = /^[\w.:-]{1,128}$/;

const BYTES = 12;
// Drawn for many at once; a number that counts up would tell strangers how busy this place is.
const drawn = Buffer.alloc(512 * BYTES);
let used = drawn.length;

export function requestIdFrom(header: string | string[] | undefined): string {
  return typeof header === 'string' && ACCEPTED.test(header) ? header : newId();
}

function newId(): string {
  if (used === drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  used += BYTES;
  return drawn.toString('base64url', used - BYTES, used);
}
