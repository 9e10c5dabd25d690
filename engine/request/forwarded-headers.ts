import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { ForwardedHeaders } from '../../lib/caller.ts';

/** Picks the headers that go on with each call on a request's behalf. */
export class HeaderForwarding {
  readonly #names: readonly string[];

  /** In lower case. */
  constructor(names: readonly string[]) {
    this.#names = names;
  }

  of(headers: IncomingHttpHeaders): ForwardedHeaders | undefined {
    if (this.#names.length === 0) return undefined;
    const pairs = this.#names.flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [name, String(value)];
    });
    if (pairs.length === 0) return undefined;
    return { pairs, digest: hash('sha256', JSON.stringify(pairs), 'base64url').slice(0, 22) };
  }

  /** What an answer may differ by, for the caches between it and the client. */
  get vary(): string {
    return this.#names.map((name) => `, ${name}`).join('');
  }
}
