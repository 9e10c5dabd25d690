import { randomUUID } from 'node:crypto';

// Short and without line breaks, so that an id cannot forge logs or headers.
const ACCEPTED = /^[\w.:-]{1,128}$/;

/** Returns the client's own id if acceptable, otherwise a random one: a counter would show how busy the server is. */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === 'string' && ACCEPTED.test(header) ? header : randomUUID();
}
