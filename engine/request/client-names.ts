import type { IncomingHttpHeaders } from 'node:http';
import { growingLru } from '../../lib/growing-lru.ts';
import { redact } from '../../lib/redact.ts';
import type { ClientNaming } from './request-summary.ts';

export const CLIENT_NAME = 'apollographql-client-name';
export const CLIENT_VERSION = 'apollographql-client-version';

const ACCEPTED_NAME = /^\w[\w .@/+-]{0,63}$/;
const ACCEPTED_VERSION = /^[\w.+-]{1,32}$/;
const REMEMBERED = 1_000;

/** The names and versions by which clients introduce themselves, in a form that may be logged. */
export class ClientNames {
  readonly #listed: ReadonlySet<string>;
  /** Redacting takes longer than all else of a request's line, and clients are few. */
  readonly #known = growingLru<string, ClientNaming>({ maxEntries: REMEMBERED, entryBytes: 300 });

  constructor(listed: readonly string[]) {
    this.#listed = new Set(listed);
  }

  fromHeaders(headers: IncomingHttpHeaders): ClientNaming | null {
    return this.of(headers[CLIENT_NAME], headers[CLIENT_VERSION]);
  }

  /** Null where the client has no name, or one that is none. */
  of(name: unknown, version: unknown): ClientNaming | null {
    if (typeof name !== 'string' || !ACCEPTED_NAME.test(name)) return null;
    const accepted = typeof version === 'string' && ACCEPTED_VERSION.test(version) ? version : null;
    const key = `${name}\n${accepted ?? ''}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const isListed = this.#listed.has(name);
    const naming: ClientNaming = {
      name: isListed ? name : redact(name),
      version: accepted && redact(accepted),
      label: isListed ? name : null,
    };
    this.#known.set(key, naming);
    return naming;
  }
}
