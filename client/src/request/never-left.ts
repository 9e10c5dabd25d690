import { isObject } from './failures.ts';

/** The system calls by which Node finds the server and connects to it, before the first byte of a request. */
const BEFORE_SENDING: ReadonlySet<unknown> = new Set(['connect', 'getaddrinfo']);

/**
 * Whether the platform says that nothing of a request left the device, as Node does for a refused connection and an unknown
 * host name. A browser cannot tell that from a lost answer.
 */
export function neverLeft(error: unknown): boolean {
  if (!isObject(error)) return false;
  // One failure for each address of the host.
  if (Array.isArray(error.errors)) return error.errors.length > 0 && error.errors.every(neverLeft);
  return BEFORE_SENDING.has(error.syscall) || neverLeft(error.cause);
}
