import type { IncomingHttpHeaders } from 'node:http';
import type { ClientNaming } from '../../operation/request-summary.ts';

export const CLIENT_NAME = 'apollographql-client-name';
export const CLIENT_VERSION = 'apollographql-client-version';

// The names are logged unchanged, so they cannot contain an e-mail address, a phone number, a token or a line break.
const NAME = /^(?!.*(?:\d{6}|eyJ))[a-z][\w ./-]{0,31}$/i;
const VERSION = /^(?!.*(?:\d{9}|eyJ))[\w.+-]{1,32}$/;

export function clientIn(headers: IncomingHttpHeaders): ClientNaming | null {
  return clientNaming(headers[CLIENT_NAME], headers[CLIENT_VERSION]);
}

/** The name and version that a client sends for itself. Null if it sends no name, or one that may not be logged. */
export function clientNaming(name: unknown, version: unknown): ClientNaming | null {
  if (typeof name !== 'string' || !NAME.test(name)) return null;
  return { name, version: typeof version === 'string' && VERSION.test(version) ? version : null };
}
