import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { ForwardedHeaders } from '../../../lib/caller.ts';

/** Picks the headers that go on with each call on a request's behalf. */
export class HeaderForwarding {
  /** In lower case. */
  readonly names: readonly string[];

  constructor(names: readonly string[]) {
    this.names = names;
  }

  /** The request's own headers, by their names. */
  in(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
    const present = this.names.filter((name) => Object.hasOwn(headers, name));
    // Over HTTP a value has no space around it, and each transport must mean the same by it.
    return Object.fromEntries(present.map((name) => [name, String(headers[name]).trim()]));
  }

  of(headers: IncomingHttpHeaders): ForwardedHeaders | undefined {
    if (this.names.length === 0) return undefined;
    const pairs = Object.entries(this.in(headers)).flat();
    if (pairs.length === 0) return undefined;
    return { pairs, digest: hash('sha256', JSON.stringify(pairs), 'base64url').slice(0, 22) };
  }

  /** The end of `Vary`: caches between an answer and its client must not share it across these headers. */
  get vary(): string {
    return this.names.map((name) => `, ${name}`).join('');
  }
}
