import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Token, toToken } from '../../../lib/token.ts';
import type { AuthCookie } from './auth-cookie.ts';

/** The text of the token in an `Authorization` value; undefined where there is none of the scheme. */
export function bearerText(authorization: string): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
}

/**
 * Whether an `Authorization` value is of a user, so that a cookie does not count. It is empty where a client has no token, and
 * `Basic` where a browser signs in to the site.
 */
export function isOfUser(authorization = ''): boolean {
  return authorization !== '' && !/^Basic(?: |$)/i.test(authorization);
}

interface LastSent {
  readonly header: string;
  readonly isCookie: boolean;
  readonly apart: string;
  readonly token: Token | null;
}

/** The tokens of requests, from the header or else from the `cookie`. A client sends the same one with each request of a connection. */
export class BearerTokens {
  readonly cookie: AuthCookie | null;
  readonly #lastSent = new WeakMap<Socket, LastSent>();

  constructor(cookie: AuthCookie | null) {
    this.cookie = cookie;
  }

  of({ headers, socket }: IncomingMessage, apart = ''): Token | null {
    const isCookie = !isOfUser(headers.authorization);
    const header = isCookie ? headers.cookie : headers.authorization;
    if (header === undefined || (isCookie && this.cookie === null)) return null;
    let last = this.#lastSent.get(socket);
    // The whole header is compared: behind a proxy the next request is another client's.
    if (last?.header !== header || last.isCookie !== isCookie || last.apart !== apart) {
      const text = isCookie ? this.cookie?.textIn(header) : bearerText(header);
      last = { header, isCookie, apart, token: text ? toToken(text, apart) : null };
      this.#lastSent.set(socket, last);
    }
    return last.token;
  }
}
