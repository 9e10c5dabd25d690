import { hash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/** The headers of a request that are forwarded with each gateway call on its behalf. */
export interface ForwardedHeaders {
  /** Names and values alternate. */
  readonly pairs: readonly string[];
  /** Equal for equal headers: requests with different digests share nothing. */
  readonly digest: string;
}

export type HeaderForwarding = ReturnType<typeof createHeaderForwarding>;

/** These characters of base64 hold 132 bits, so equal digests of different headers do not occur. */
const DIGEST_LENGTH = 22;

/** Picks the headers to forward, by names in lower case. */
export function createHeaderForwarding(names: readonly string[]) {
  function headersIn(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
    const present = names.filter((name) => Object.hasOwn(headers, name));
    // HTTP trims the space around a value, and other transports must send the same value.
    return Object.fromEntries(present.map((name) => [name, String(headers[name]).trim()]));
  }

  function forwarded(headers: IncomingHttpHeaders): ForwardedHeaders | undefined {
    if (names.length === 0) return undefined;
    const pairs = Object.entries(headersIn(headers)).flat();
    if (pairs.length === 0) return undefined;
    const digest = hash('sha256', JSON.stringify(pairs), 'base64url').slice(0, DIGEST_LENGTH);
    return { pairs, digest };
  }

  /** Whether a header occurs twice: Node joins the values, and a proxy may have checked only the last. */
  const hasDuplicate = (request: Pick<IncomingMessage, 'headersDistinct'>) =>
    // If there are no names, `headersDistinct` is not read: its first read makes Node collect all headers.
    names.some((name) => (request.headersDistinct[name]?.length ?? 0) > 1);

  /** The end of `Vary`: caches must not share an answer between requests whose forwarded headers differ. */
  const vary = names.map((name) => `, ${name}`).join('');

  return { names, headersIn, forwarded, hasDuplicate, vary };
}
