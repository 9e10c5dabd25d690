import type { IncomingHttpHeaders } from 'node:http';
import { growingLru } from '../../../lib/growing-lru.ts';
import { redact } from '../../../lib/redact.ts';
import type { ClientNaming } from '../../operation/request-summary.ts';

export const CLIENT_NAME = 'apollographql-client-name';
export const CLIENT_VERSION = 'apollographql-client-version';

const ACCEPTED_NAME = /^\w[\w .@/+-]{0,63}$/;
const ACCEPTED_VERSION = /^[\w.+-]{1,32}$/;
const MAX_KNOWN = 1_000;

/** The names and versions that clients send, in a form that may be logged. */
export class ClientNames {
  // Redacting takes longer than all else of a request's log line, and there are few clients.
  readonly #known = growingLru<string, ClientNaming>({ maxEntries: MAX_KNOWN, entryBytes: 300 });

  fromHeaders(headers: IncomingHttpHeaders): ClientNaming | null {
    return this.of(headers[CLIENT_NAME], headers[CLIENT_VERSION]);
  }

  /** Null where the client sends no name, or one that may not be logged. */
  of(name: unknown, version: unknown): ClientNaming | null {
    if (typeof name !== 'string' || !ACCEPTED_NAME.test(name)) return null;
    const accepted = typeof version === 'string' && ACCEPTED_VERSION.test(version) ? version : null;
    const key = `${name}\n${accepted ?? ''}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const naming = { name: redact(name), version: accepted && redact(accepted) };
    this.#known.set(key, naming);
    return naming;
  }
}
