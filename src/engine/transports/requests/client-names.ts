import type { IncomingHttpHeaders } from 'node:http';
import { growingLru } from '../../../lib/growing-lru.ts';
import { redact } from '../../../lib/redact.ts';
import type { ClientNaming } from '../../operation/request-summary.ts';

export const CLIENT_NAME = 'apollographql-client-name';
export const CLIENT_VERSION = 'apollographql-client-version';

const ACCEPTED_NAME = /^\w[\w .@/+-]{0,63}$/;
const ACCEPTED_VERSION = /^[\w.+-]{1,32}$/;
const REMEMBERED = 1_000;

export type ClientNames = ReturnType<typeof createClientNames>;

/** The names and versions by which clients introduce themselves, in a form that may be logged. */
export function createClientNames(names: readonly string[]) {
  const listed = new Set(names);
  // Redacting takes longer than all else of a request's line, and clients are few.
  const known = growingLru<string, ClientNaming>({ maxEntries: REMEMBERED, entryBytes: 300 });

  /** Null where the client has no name, or one that is none. */
  function of(name: unknown, version: unknown): ClientNaming | null {
    if (typeof name !== 'string' || !ACCEPTED_NAME.test(name)) return null;
    const accepted = typeof version === 'string' && ACCEPTED_VERSION.test(version) ? version : null;
    const key = `${name}\n${accepted ?? ''}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const naming: ClientNaming = {
      name: listed.has(name) ? name : redact(name),
      version: accepted && redact(accepted),
    };
    known.set(key, naming);
    return naming;
  }

  const fromHeaders = (headers: IncomingHttpHeaders) =>
    of(headers[CLIENT_NAME], headers[CLIENT_VERSION]);
  return { of, fromHeaders };
}
