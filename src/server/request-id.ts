import { randomUUID } from 'node:crypto';

// Short and plain: it goes into logs and headers, where it must not be able to write a line of its own.
const ACCEPTED = /^[\w.:-]{1,128}$/;

export function requestIdFrom(header: string | string[] | undefined): string {
  return typeof header === 'string' && ACCEPTED.test(header) ? header : randomUUID();
}
