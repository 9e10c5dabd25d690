import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Token, toToken } from '../../../lib/token.ts';
import type { AuthCookie } from './auth-cookie.ts';

/** The text of the token in an `Authorization` value; undefined if its scheme is not Bearer. */
export function bearerText(authorization: string): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
}

/**
 * Whether an `Authorization` value identifies a user, so that the cookie is ignored. The value is empty if a client has no
 * token, and `Basic` if a browser signs in to the site.
 */
export function isOfUser(authorization = ''): boolean {
  return authorization !== '' && !/^Basic(?: |$)/i.test(authorization);
}

/** The tokens of requests. A client sends the same token with each request of a connection, so it is hashed once. */
export class BearerTokens {
  readonly #cookie: AuthCookie | null;
  readonly #lastSent = new WeakMap<Socket, { readonly token: Token; readonly digest: string }>();

  constructor(cookie: AuthCookie | null) {
    this.#cookie = cookie;
  }

  /** The token of the header; of the cookie if the header has none. `digest`: the digest of the forwarded headers. */
  tokenOf({ headers, socket }: IncomingMessage, digest = ''): Token | null {
    const { authorization = '', cookie = '' } = headers;
    const text = isOfUser(authorization) ? bearerText(authorization) : this.#cookie?.textIn(cookie);
    if (!text) return null;
    const last = this.#lastSent.get(socket);
    if (last?.token.text === text && last.digest === digest) return last.token;
    const token = toToken(text, digest);
    this.#lastSent.set(socket, { token, digest });
    return token;
  }
}
