import { randomFillSync } from 'node:crypto';

// Short and without line breaks: the id goes into logs and headers, which it must not be able to forge.
const ACCEPTED = /^[\w.:-]{1,128}$/;

const BYTES = 12;
// Random bytes are drawn in batches; a counter would show clients how busy the server is.
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
