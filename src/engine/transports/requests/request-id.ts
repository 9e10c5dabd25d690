import { randomUUID } from 'node:crypto';

// Short and without line breaks or tokens, because it is logged.
const ACCEPTED = /^(?!.*eyJ)[\w.:-]{1,128}$/;

/** Returns the client's own id if acceptable, otherwise a random one: a counter would show how busy the server is. */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === 'string' && ACCEPTED.test(header) ? header : randomUUID();
}
