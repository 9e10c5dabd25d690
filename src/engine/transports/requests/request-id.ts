import { randomUUID } from 'node:crypto';

// Short and without line breaks: the id goes into logs and headers, which it must not be able to forge.
const ACCEPTED = /^[\w.:-]{1,128}$/;

/** Returns the client's own id where it is acceptable, else a new one: a counter would show clients how busy the server is. */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === 'string' && ACCEPTED.test(header) ? header : randomUUID();
}
