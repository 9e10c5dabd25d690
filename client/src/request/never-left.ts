import { isObject } from './failures.ts';

/** The calls by which Node finds the server and connects to it, before the first byte of a request. */
const BEFORE_SENDING: ReadonlySet<unknown> = new Set(['connect', 'getaddrinfo']);

/**
 * Whether the platform says that nothing of a request left the device, as Node does for a refused connection and for a
 * name that is not found. A browser cannot tell that from an answer that was lost.
 */
export function neverLeft(error: unknown): boolean {
  if (!isObject(error)) return false;
  // One failure for each address that the name has.
  if (Array.isArray(error.errors)) return error.errors.length > 0 && error.errors.every(neverLeft);
  return BEFORE_SENDING.has(error.syscall) || neverLeft(error.cause);
}
