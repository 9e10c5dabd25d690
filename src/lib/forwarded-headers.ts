import { hash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/** The headers of a request that go on with each call on its behalf. */
export interface ForwardedHeaders {
  /** Names and values alternate. */
  readonly pairs: readonly string[];
  /** The same for the same headers: nothing is shared across two of them. */
  readonly digest: string;
}

export type HeaderForwarding = ReturnType<typeof createHeaderForwarding>;

/** Picks the headers that go on with each call on a request's behalf, by names in lower case. */
export function createHeaderForwarding(names: readonly string[]) {
  /** The request's own headers, by their names. */
  function own(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
    const present = names.filter((name) => Object.hasOwn(headers, name));
    // Over HTTP a value has no space around it, and each transport must mean the same by it.
    return Object.fromEntries(present.map((name) => [name, String(headers[name]).trim()]));
  }

  function of(headers: IncomingHttpHeaders): ForwardedHeaders | undefined {
    if (names.length === 0) return undefined;
    const pairs = Object.entries(own(headers)).flat();
    if (pairs.length === 0) return undefined;
    return { pairs, digest: hash('sha256', JSON.stringify(pairs), 'base64url').slice(0, 22) };
  }

  /** Whether one comes twice: Node joins the two, and a proxy may have checked only the last. */
  const comesTwice = (request: Pick<IncomingMessage, 'headersDistinct'>) =>
    // Node makes `headersDistinct` of all headers when it is first read.
    names.some((name) => (request.headersDistinct[name]?.length ?? 0) > 1);

  /** The end of `Vary`: caches between an answer and its client must not share it across these headers. */
  const vary = names.map((name) => `, ${name}`).join('');

  return { names, in: own, of, comesTwice, vary };
}
